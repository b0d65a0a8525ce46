// A sinusoid with half a pair.
// sentence: a sinusoid is made of pairs, so its width must be even
// numbers: width is 5
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor positions = graph.input("positions", {batch.length}, Dtype::i32);
  const Tensor y = nn::sinusoidal_positions(positions, 5, "positions"); // here
  graph.output("loss", reduce_sum(y, {.dims = {0, 1}}));
  return graph;
}
} // namespace

BURIN_MODEL(sinusoid_width, declare, 0);
