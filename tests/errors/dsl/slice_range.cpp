// Rows beyond the last.
// sentence: a slice must lie within its input
// numbers: x is [2, 8, 32], start is 1, size is 2
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, batch.length, 32}, Dtype::f32);
  const Tensor y = slice(x, {.start = 1, .size = 2}); // here
  graph.output("loss", reduce_sum(y, {.dims = {0, 1, 2}}));
  return graph;
}
} // namespace

BURIN_MODEL(slice_range, declare, 0);
