// A loss for each sequence instead of one number.
// sentence: the output named loss must be an f32 scalar
// numbers: shape is [2], dtype is f32
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, batch.length}, Dtype::f32);
  graph.output("loss", reduce_sum(x, {.dims = {1}})); // here
  return graph;
}
} // namespace

BURIN_MODEL(loss_shape, declare, 0);
