// A cap that would turn scores around.
// sentence: the softcap of attention must be positive
// numbers: softcap is -1.000000
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, batch.length, 32}, Dtype::f32);
  const Tensor positions = graph.input("positions", {batch.length}, Dtype::i32);
  const Tensor y = nn::attention(x, positions, {.heads = 4, .softcap = -1.0}, "attn"); // here
  graph.output("loss", reduce_sum(y, {.dims = {0, 1, 2}}));
  return graph;
}
} // namespace

BURIN_MODEL(softcap, declare, 0);
