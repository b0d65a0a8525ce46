// A model small enough to compile and train in a moment, yet with everything that an object can hold: several entries,
// both kinds of decay, integer inputs with bounds, a loss.
#include <burin.h>

namespace {

struct Tiny {
  int vocab = 11, width = 16, heads = 2, hidden = 24;
};

constexpr burin::Graph declare(const Tiny &m, burin::Batch batch) {
  using namespace burin;
  Graph graph;
  const Tensor tokens = graph.input("tokens", {batch.rows, batch.length}, Dtype::i32);
  const Tensor positions = graph.input("positions", {batch.length}, Dtype::i32);
  const Tensor targets = graph.input("targets", {batch.rows, batch.length}, Dtype::i32);
  const nn::Block block = {.attention = {.heads = m.heads, .rope_theta = 1e4}, .hidden = m.hidden};
  Tensor x = nn::embedding(tokens, m.vocab, m.width, "token_embeddings");
  x = nn::transformer_block(x, positions, block, Scope("layers") / 0);
  const Tensor logits = nn::linear(nn::rms_norm(x, "ln_final"), m.vocab, "lm_head");
  graph.output("logits", logits);
  graph.output("loss", cross_entropy(logits, targets));
  return graph;
}

} // namespace

BURIN_MODEL(tiny, declare, Tiny{});
