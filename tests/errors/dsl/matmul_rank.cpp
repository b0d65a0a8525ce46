// A vector where a product needs a matrix.
// sentence: the operands of matmul need at least two dimensions
// numbers: a is [2, 32], b is [32]
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, 32}, Dtype::f32);
  const Tensor w = graph.parameter("w", {32}, constant(1), true);
  graph.output("loss", reduce_sum(matmul(x, w), {.dims = {0}})); // here
  return graph;
}
} // namespace

BURIN_MODEL(matmul_rank, declare, 0);
