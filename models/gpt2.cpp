// GPT-2: the family of 2019, from 124 million to 1.5 billion parameters, as values. The vocabulary is 50257 as it is.
#include <burin.h>

namespace {

struct Gpt2 {
  int vocab = 50257, context = 1024, width = 768, layers = 12, heads = 12;
};
constexpr Gpt2 medium = {.width = 1024, .layers = 24, .heads = 16};
constexpr Gpt2 large = {.width = 1280, .layers = 36, .heads = 20};
constexpr Gpt2 xl = {.width = 1600, .layers = 48, .heads = 25};

constexpr burin::Graph declare(const Gpt2 &m, burin::Batch batch) {
  using namespace burin;
  Graph graph;
  const Tensor tokens = graph.input("tokens", {batch.rows, batch.length}, Dtype::i32);
  const Tensor positions = graph.input("positions", {batch.length}, Dtype::i32);
  const Tensor targets = graph.input("targets", {batch.rows, batch.length}, Dtype::i32);
  const nn::Linear inner = {.bias = true, .init = normal(0.02)};
  // Each layer adds to the residual path twice; so scaled, the sum of all has the spread of one.
  const nn::Linear residual = {.bias = true, .init = normal(0.02 / squareRoot(2.0 * m.layers))};
  const nn::Block block = {.attention = {.heads = m.heads, .projection = inner, .output = residual},
                           .norm_kind = nn::NormKind::layer,
                           .feed_forward = nn::FeedForward::gelu,
                           .hidden = 4 * m.width,
                           .gelu = {.gelu = {.approximate = true}, .in = inner, .out = residual}};

  const Tensor table = nn::embedding_table(tokens, m.vocab, m.width, "token_embeddings", normal(0.02));
  Tensor x = embedding(table, tokens) + nn::learned_positions(positions, m.context, m.width, "position_embeddings");
  for (int i = 0; i < m.layers; ++i)
    x = nn::transformer_block(x, positions, block, Scope("layers") / i);
  const Tensor logits = nn::tied_head(nn::layer_norm(x, "ln_final"), table, "lm_head");
  graph.output("logits", logits);
  graph.output("loss", cross_entropy(logits, targets));
  return graph;
}

static_assert(burin::parameters(declare(Gpt2{}, {1, 64})) == 124'439'808);

} // namespace

BURIN_MODEL(gpt2, declare, Gpt2{});
BURIN_MODEL(gpt2_medium, declare, medium);
BURIN_MODEL(gpt2_large, declare, large);
BURIN_MODEL(gpt2_xl, declare, xl);
