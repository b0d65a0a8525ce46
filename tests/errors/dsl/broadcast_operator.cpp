// Two shapes that no repetition makes equal, met by an operator.
// sentence: shapes broadcast only where dimensions, aligned at the last, are equal or 1
// numbers: a is [2, 8], b is [2]
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, batch.length}, Dtype::f32);
  const Tensor rows = graph.input("rows", {batch.rows}, Dtype::f32);
  const Tensor y = x * rows; // here
  graph.output("loss", reduce_sum(y, {.dims = {0, 1}}));
  return graph;
}
} // namespace

BURIN_MODEL(broadcast_operator, declare, 0);
