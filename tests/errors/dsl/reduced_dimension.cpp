// A sum over a dimension that is not there.
// sentence: a reduction names a dimension that its input lacks
// numbers: x is [2, 8], dims is [2]
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, batch.length}, Dtype::f32);
  graph.output("loss", reduce_sum(x, {.dims = {2}})); // here
  return graph;
}
} // namespace

BURIN_MODEL(reduced_dimension, declare, 0);
