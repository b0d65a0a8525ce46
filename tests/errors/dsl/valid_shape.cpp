// Marks of padding for one sequence where there are several.
// sentence: valid must be [batch, length], one number for each key
// numbers: valid is [8], batch is 2, length is 8
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, batch.length, 32}, Dtype::f32);
  const Tensor positions = graph.input("positions", {batch.length}, Dtype::i32);
  const Tensor valid = graph.input("valid", {batch.length}, Dtype::i32);
  const Tensor y = nn::attention(x, positions, {.heads = 4, .valid = valid}, "attn"); // here
  graph.output("loss", reduce_sum(y, {.dims = {0, 1, 2}}));
  return graph;
}
} // namespace

BURIN_MODEL(valid_shape, declare, 0);
