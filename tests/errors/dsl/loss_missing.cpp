// A model that names no loss.
// sentence: a model must have an output named loss
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, batch.length}, Dtype::f32);
  graph.output("logits", x);
  return graph;
}
} // namespace

BURIN_MODEL(loss_missing, declare, 0); // here
