// Arithmetic that mixes token ids with numbers.
// sentence: the operands of add must have one dtype
// numbers: a is i32, b is f32
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor tokens = graph.input("tokens", {batch.rows, batch.length}, Dtype::i32);
  const Tensor weights = graph.input("weights", {batch.length}, Dtype::f32);
  const Tensor sum = tokens + weights; // here
  graph.output("loss", reduce_sum(sum, {.dims = {0, 1}}));
  return graph;
}
} // namespace

BURIN_MODEL(integer_arithmetic, declare, 0);
