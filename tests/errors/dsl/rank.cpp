// More dimensions than a tensor may have.
// sentence: a tensor has at most 6 dimensions
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, 1, 1, 1, 1, 1, 1}, Dtype::f32); // here
  graph.output("loss", reduce_sum(x, {.dims = {0}}));
  return graph;
}
} // namespace

BURIN_MODEL(rank, declare, 0);
