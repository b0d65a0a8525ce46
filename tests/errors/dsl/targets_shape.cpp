// One target for each sequence instead of one for each token.
// sentence: cross_entropy needs one target for each row of logits
// numbers: logits is [2, 8, 256], targets is [2]
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor logits = graph.input("logits", {batch.rows, batch.length, 256}, Dtype::f32);
  const Tensor targets = graph.input("targets", {batch.rows}, Dtype::i32);
  graph.output("loss", cross_entropy(logits, targets)); // here
  return graph;
}
} // namespace

BURIN_MODEL(targets_shape, declare, 0);
