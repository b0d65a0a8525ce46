// The language model of a public course (Stanford CS336), and the variants of its ablation, as values of one family.
#include <burin.h>

namespace {

using burin::nn::FeedForward;
using burin::nn::Norm;

struct Gpt {
  int vocab = 256, context = 128, width = 256, layers = 4, heads = 8, hidden = 704;
  std::optional<double> rope_theta = 1e4; // nullopt: no position information but the causal mask
  Norm norm = Norm::pre;
  FeedForward feed_forward = FeedForward::swiglu;
};

constexpr burin::Graph declare(const Gpt &m, burin::Batch batch) {
  using namespace burin;
  check(batch.length <= m.context, "the length of a batch must not exceed the context of the model", "length",
        batch.length, "context", m.context);
  Graph graph;
  const Tensor tokens = graph.input("tokens", {batch.rows, batch.length}, Dtype::i32);
  const Tensor positions = graph.input("positions", {batch.length}, Dtype::i32);
  const Tensor targets = graph.input("targets", {batch.rows, batch.length}, Dtype::i32);
  const nn::Block block = {.attention = {.heads = m.heads, .rope_theta = m.rope_theta},
                           .norm = m.norm,
                           .feed_forward = m.feed_forward,
                           .hidden = m.hidden};

  Tensor x = nn::embedding(tokens, m.vocab, m.width, "token_embeddings");
  for (int i = 0; i < m.layers; ++i)
    x = nn::transformer_block(x, positions, block, Scope("layers") / i);
  // Also after post-norm blocks, where it is nearly idle: so the variants differ in the placement alone.
  if (m.norm != Norm::none)
    x = nn::rms_norm(x, "ln_final");
  const Tensor logits = nn::linear(x, m.vocab, "lm_head");
  graph.output("logits", logits);
  graph.output("loss", cross_entropy(logits, targets));
  return graph;
}

static_assert(burin::parameters(declare(Gpt{}, {16, 128})) == 3'344'640);

} // namespace

BURIN_MODEL(cs336, declare, Gpt{});
BURIN_MODEL(cs336_no_positions, declare, Gpt{.rope_theta = std::nullopt});
BURIN_MODEL(cs336_no_norm, declare, Gpt{.norm = Norm::none});
BURIN_MODEL(cs336_post_norm, declare, Gpt{.norm = Norm::post});
// Two matrices of 1024 rows have about the parameters of SwiGLU's three of 704; with 704 the gate's are taken away.
BURIN_MODEL(cs336_gelu_1024, declare, Gpt{.hidden = 1024, .feed_forward = FeedForward::gelu});
BURIN_MODEL(cs336_gelu_704, declare, Gpt{.feed_forward = FeedForward::gelu});
