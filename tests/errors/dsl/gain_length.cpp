// A gain that is not as long as the rows it scales.
// sentence: the gain must be a vector as long as the last dimension of x
// numbers: x is [2, 8, 32], gain is [8]
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, batch.length, 32}, Dtype::f32);
  const Tensor gain = graph.parameter("gain", {8}, constant(1), false);
  graph.output("loss", reduce_sum(rms_norm(x, gain), {.dims = {0, 1, 2}})); // here
  return graph;
}
} // namespace

BURIN_MODEL(gain_length, declare, 0);
