// Rows of another width under those of a matrix.
// sentence: what is concatenated must agree in all but the first dimension
// numbers: a is [3, 8], b is [2, 7]
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor a = graph.parameter("a", {3, batch.length}, normal(1), true);
  const Tensor b = graph.parameter("b", {2, batch.length - 1}, normal(1), true);
  const Tensor y = concat(a, b); // here
  graph.output("loss", reduce_sum(y, {.dims = {0, 1}}));
  return graph;
}
} // namespace

BURIN_MODEL(concat_shape, declare, 0);
