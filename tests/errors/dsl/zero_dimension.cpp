// A width that an integer division made zero.
// sentence: every dimension must be at least 1
// numbers: shape is [2, 0]
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, batch.length / 16}, Dtype::f32); // here
  graph.output("loss", reduce_sum(x, {.dims = {0, 1}}));
  return graph;
}
} // namespace

BURIN_MODEL(zero_dimension, declare, 0);
