// A tensor of another graph.
// sentence: the tensors of an op must belong to one graph
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph, other;
  const Tensor x = graph.input("x", {batch.rows}, Dtype::f32);
  const Tensor y = other.input("y", {batch.rows}, Dtype::f32);
  const Tensor sum = x + y; // here
  graph.output("loss", reduce_sum(sum, {.dims = {0}}));
  return graph;
}
} // namespace

BURIN_MODEL(foreign_tensor, declare, 0);
