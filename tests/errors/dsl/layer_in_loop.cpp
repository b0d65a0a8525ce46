// An odd head depth under RoPE, deep inside layers: the place is still the model's line.
// sentence: rope rotates pairs, so its last dimension must be even
// numbers: x is [2, 6, 8, 5]
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  Tensor x = graph.input("x", {batch.rows, batch.length, 30}, Dtype::f32);
  const Tensor positions = graph.input("positions", {batch.length}, Dtype::i32);
  const nn::Block block = {.attention = {.heads = 6, .rope_theta = 1e4}, .hidden = 64};
  for (int i = 0; i < 2; ++i)
    x = nn::transformer_block(x, positions, block, Scope("layers") / i); // here
  graph.output("loss", reduce_sum(x, {.dims = {0, 1, 2}}));
  return graph;
}
} // namespace

BURIN_MODEL(layer_in_loop, declare, 0);
