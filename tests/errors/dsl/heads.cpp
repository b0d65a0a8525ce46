// Heads that do not divide the width.
// sentence: the heads must divide the width
// numbers: heads is 7, width is 32
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, batch.length, 32}, Dtype::f32);
  const Tensor positions = graph.input("positions", {batch.length}, Dtype::i32);
  const Tensor y = nn::attention(x, positions, {.heads = 7}, "attn"); // here
  graph.output("loss", reduce_sum(y, {.dims = {0, 1, 2}}));
  return graph;
}
} // namespace

BURIN_MODEL(heads, declare, 0);
