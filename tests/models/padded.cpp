// A language model that asks its program which tokens are padding, and the same one without the question.
#include <burin.h>

namespace {

struct Padded {
  int vocab = 23, width = 32, layers = 2, heads = 2;
  bool padded = true;
};

constexpr burin::Graph declare(const Padded &m, burin::Batch batch) {
  using namespace burin;
  Graph graph;
  const Tensor tokens = graph.input("tokens", {batch.rows, batch.length}, Dtype::i32);
  const Tensor positions = graph.input("positions", {batch.length}, Dtype::i32);
  const Tensor targets = graph.input("targets", {batch.rows, batch.length}, Dtype::i32);
  nn::Block block = {.attention = {.heads = m.heads, .rope_theta = 1e4}, .hidden = 2 * m.width};
  if (m.padded)
    block.attention.valid = graph.input("valid", {batch.rows, batch.length}, Dtype::i32);
  Tensor x = nn::embedding(tokens, m.vocab, m.width, "token_embeddings");
  for (int i = 0; i < m.layers; ++i)
    x = nn::transformer_block(x, positions, block, Scope("layers") / i);
  const Tensor logits = nn::linear(nn::rms_norm(x, "ln_final"), m.vocab, "lm_head");
  graph.output("logits", logits);
  graph.output("loss", cross_entropy(logits, targets));
  return graph;
}

} // namespace

BURIN_MODEL(padded, declare, Padded{});
BURIN_MODEL(whole, declare, Padded{.padded = false});
