// Positions of another length than the sequence.
// sentence: the positions of rope must be [length] or [batch, length] of its input
// numbers: x is [2, 8, 16], positions is [9]
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, batch.length, 16}, Dtype::f32);
  const Tensor positions = graph.input("positions", {batch.length + 1}, Dtype::i32);
  const Tensor y = rope(x, positions); // here
  graph.output("loss", reduce_sum(y, {.dims = {0, 1, 2}}));
  return graph;
}
} // namespace

BURIN_MODEL(rope_positions, declare, 0);
