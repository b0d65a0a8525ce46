// Two layers under one name.
// sentence: two inputs or parameters must not share a name
// numbers: name is proj.weight
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  Tensor x = graph.input("x", {batch.rows, 32}, Dtype::f32);
  x = nn::linear(x, 32, "proj");
  x = nn::linear(x, 32, "proj"); // here
  graph.output("loss", reduce_sum(x, {.dims = {0, 1}}));
  return graph;
}
} // namespace

BURIN_MODEL(duplicate_name, declare, 0);
