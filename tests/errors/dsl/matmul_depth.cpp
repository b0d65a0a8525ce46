// A weight one row too long for its input.
// sentence: the inner dimensions of a matmul must agree
// numbers: a is [2, 32], b is [33, 8], transpose_a is false, transpose_b is false
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, 32}, Dtype::f32);
  const Tensor w = graph.parameter("w", {33, 8}, constant(1), true);
  const Tensor y = matmul(x, w); // here
  graph.output("loss", reduce_sum(y, {.dims = {0, 1}}));
  return graph;
}
} // namespace

BURIN_MODEL(matmul_depth, declare, 0);
