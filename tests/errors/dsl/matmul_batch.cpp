// Queries and keys split into different numbers of heads.
// sentence: batched operands of matmul must have the same leading dimensions
// numbers: a is [2, 4, 8, 16], b is [2, 2, 8, 16]
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor q = graph.input("q", {batch.rows, 4, batch.length, 16}, Dtype::f32);
  const Tensor k = graph.input("k", {batch.rows, 2, batch.length, 16}, Dtype::f32);
  const Tensor scores = matmul(q, k, {.transpose_b = true}); // here
  graph.output("loss", reduce_sum(scores, {.dims = {0, 1, 2, 3}}));
  return graph;
}
} // namespace

BURIN_MODEL(matmul_batch, declare, 0);
