// A permutation that names one dimension twice.
// sentence: a permutation must name each dimension once
// numbers: x is [2, 8, 4], permutation is [0, 2, 2]
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, batch.length, 4}, Dtype::f32);
  const Tensor y = transpose(x, {0, 2, 2}); // here
  graph.output("loss", reduce_sum(y, {.dims = {0, 1, 2}}));
  return graph;
}
} // namespace

BURIN_MODEL(permutation, declare, 0);
