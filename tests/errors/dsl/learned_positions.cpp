// Fewer learned positions than tokens.
// sentence: there must be a learned position for each token of a sequence
// numbers: positions is [8], context is 5
#include <burin.h>

namespace {
using namespace burin;

constexpr Graph declare(int, Batch batch) {
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, batch.length, 32}, Dtype::f32);
  const Tensor positions = graph.input("positions", {batch.length}, Dtype::i32);
  const Tensor y = add(x, nn::learned_positions(positions, 5, 32, "position_embeddings")); // here
  graph.output("loss", reduce_sum(y, {.dims = {0, 1, 2}}));
  return graph;
}
} // namespace

BURIN_MODEL(learned_positions, declare, 0);
