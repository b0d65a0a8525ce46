// A model of the Llama kind at the sizes of GPT-2's smallest, 124M parameters: the output layer reads the embedding's
// table. The bench compiles it in other sizes too.
#include <burin.h>

#ifndef BENCH_LAYERS
#define BENCH_LAYERS 12
#endif
#ifndef BENCH_WIDTH
#define BENCH_WIDTH 768
#endif

namespace {

struct Gpt {
  int vocab = 50304, width = 768, layers = 12;
  constexpr int heads() const { return width / 64; }
  constexpr int hidden() const { return (8 * width / 3 + 63) / 64 * 64; }
};

constexpr burin::Graph declare(const Gpt &m, burin::Batch batch) {
  using namespace burin;
  Graph graph;
  const Tensor tokens = graph.input("tokens", {batch.rows, batch.length}, Dtype::i32);
  const Tensor positions = graph.input("positions", {batch.length}, Dtype::i32);
  const Tensor targets = graph.input("targets", {batch.rows, batch.length}, Dtype::i32);
  const nn::Block block = {.attention = {.heads = m.heads(), .rope_theta = 1e4}, .hidden = m.hidden()};

  const Tensor table = graph.parameter("token_embeddings.weight", {m.vocab, m.width}, normal(0.02), /*decay=*/true);
  Tensor x = embedding(table, tokens);
  for (int i = 0; i < m.layers; ++i)
    x = nn::transformer_block(x, positions, block, Scope("layers") / i);
  const Tensor logits = matmul(nn::rms_norm(x, "ln_final"), table, {.transpose_b = true});
  graph.output("logits", logits);
  graph.output("loss", cross_entropy(logits, targets));
  return graph;
}

} // namespace

BURIN_MODEL(gpt, declare, Gpt{.width = BENCH_WIDTH, .layers = BENCH_LAYERS});
