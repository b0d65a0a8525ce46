// A mask with more dimensions than the scores it masks.
// sentence: a mask must broadcast to the scores, not the other way
// numbers: scores is [8, 8], keep is [2, 8, 8]
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor scores = graph.input("scores", {batch.length, batch.length}, Dtype::f32);
  const Tensor keep = graph.input("keep", {batch.rows, batch.length, batch.length}, Dtype::i32);
  const Tensor weights = softmax(mask(scores, keep)); // here
  graph.output("loss", reduce_sum(weights, {.dims = {0, 1}}));
  return graph;
}
} // namespace

BURIN_MODEL(mask_shape, declare, 0);
