// Tokens and table in the wrong order.
// sentence: embedding takes an f32 table and i32 ids
// numbers: table is i32, ids is f32
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor tokens = graph.input("tokens", {batch.rows, batch.length}, Dtype::i32);
  const Tensor table = graph.parameter("table", {256, 32}, constant(1), true);
  const Tensor x = embedding(tokens, table); // here
  graph.output("loss", reduce_sum(x, {.dims = {0, 1, 2}}));
  return graph;
}
} // namespace

BURIN_MODEL(embedding_dtype, declare, 0);
