// Heads of keys that the heads cannot share evenly.
// sentence: the heads of keys must divide the heads
// numbers: kv_heads is 3, heads is 4
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, batch.length, 32}, Dtype::f32);
  const Tensor positions = graph.input("positions", {batch.length}, Dtype::i32);
  const Tensor y = nn::attention(x, positions, {.heads = 4, .kv_heads = 3}, "attn"); // here
  graph.output("loss", reduce_sum(y, {.dims = {0, 1, 2}}));
  return graph;
}
} // namespace

BURIN_MODEL(kv_heads, declare, 0);
