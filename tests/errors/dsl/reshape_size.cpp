// A reshape that loses elements.
// sentence: a reshape must keep the number of elements
// numbers: x is [2, 8, 30], shape is [2, 8, 4, 7]
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, batch.length, 30}, Dtype::f32);
  const Tensor y = reshape(x, {batch.rows, batch.length, 4, 30 / 4}); // here
  graph.output("loss", reduce_sum(y, {.dims = {0, 1, 2, 3}}));
  return graph;
}
} // namespace

BURIN_MODEL(reshape_size, declare, 0);
