// TinyGPT: the smallest language model that learns something one can read. Its ids are the characters of the text.
#include <burin.h>

namespace {

struct TinyGpt {
  int vocab = 23, context = 32, width = 64, layers = 2, heads = 4;
};

constexpr burin::Graph declare(const TinyGpt &m, burin::Batch batch) {
  using namespace burin;
  Graph graph;
  const Tensor tokens = graph.input("tokens", {batch.rows, batch.length}, Dtype::i32);
  const Tensor positions = graph.input("positions", {batch.length}, Dtype::i32);
  const Tensor targets = graph.input("targets", {batch.rows, batch.length}, Dtype::i32);
  const nn::Linear biased = {.bias = true};
  const nn::Block block = {.attention = {.heads = m.heads, .fused_qkv = true, .projection = biased, .output = biased},
                           .norm_kind = nn::NormKind::layer,
                           .feed_forward = nn::FeedForward::gelu,
                           .hidden = 4 * m.width,
                           .gelu = {.gelu = {.approximate = false}, .in = biased, .out = biased}};

  Tensor x = nn::embedding(tokens, m.vocab, m.width, "token_embeddings") +
             nn::learned_positions(positions, m.context, m.width, "position_embeddings");
  for (int i = 0; i < m.layers; ++i)
    x = nn::transformer_block(x, positions, block, Scope("layers") / i);
  x = nn::layer_norm(x, "ln_final");
  const Tensor logits = nn::linear(x, m.vocab, "lm_head", biased);
  graph.output("logits", logits);
  graph.output("loss", cross_entropy(logits, targets));
  return graph;
}

// Embeddings, then 12 D^2 + 13 D a layer: 3 D^2 + 3 D and D^2 + D of attention, 8 D^2 + 5 D of the feed-forward layer,
// 4 D of norms; the last norm and the head.
constexpr int64_t counted(int64_t vocab, int64_t context, int64_t width, int64_t layers) {
  return (vocab + context) * width + layers * (12 * width * width + 13 * width) + 2 * width + vocab * width + vocab;
}
static_assert(burin::parameters(declare(TinyGpt{}, {32, 32})) == counted(23, 32, 64, 2));

} // namespace

BURIN_MODEL(tiny_gpt, declare, TinyGpt{});
// Room for the characters of most texts in one alphabet.
BURIN_MODEL(tiny_gpt_128, declare, TinyGpt{.vocab = 128});
