// The constants of a declaration, worked out by hand.
#include "support.h"

#include <gtest/gtest.h>

namespace burin {
namespace {

constexpr int64_t batch = 2, length = 6, width = 16;

struct Options {
  bool mask = true, softmax = true, cap = false, twoClocks = false;
};

// One head's attention on given q, k, v: scores = q k^T, masked, through a softmax, times v.
constexpr Graph declare(const Options &options) {
  Graph graph;
  const Tensor q = graph.input("q", {batch, length, width}, Dtype::f32);
  const Tensor k = graph.input("k", {batch, length, width}, Dtype::f32);
  const Tensor v = graph.input("v", {batch, length, width}, Dtype::f32);
  const Tensor positions = graph.input("positions", {length}, Dtype::i32);
  const Tensor clock = graph.input("clock", {length}, Dtype::i32);
  Tensor scores = scale(matmul(q, k, {.transpose_b = true}), 0.25);
  if (options.cap)
    scores = tanh(scores);
  const Tensor keys = reshape(options.twoClocks ? clock : positions, {1, length});
  if (options.mask)
    scores = mask(scores, greater_equal(reshape(positions, {length, 1}), keys));
  if (options.softmax)
    scores = softmax(scores);
  matmul(scale(scores, 2), v);
  return graph;
}

constexpr int64_t product = 2 * batch * length * length * width;
constexpr int64_t full = 3 * 2 * product;

// A causal mask leaves T (T + 1) / 2 of T * T, in both products.
static_assert(flops(declare({})) == full * (length + 1) / (2 * length));
static_assert(flops_full_attention(declare({})) == full);
// Other element-wise work on the scores changes nothing.
static_assert(flops(declare({.cap = true})) == full * (length + 1) / (2 * length));
// Without mask or softmax, or with a mask that does not compare a sequence with itself, all of it counts.
static_assert(flops(declare({.mask = false})) == full);
static_assert(flops(declare({.softmax = false})) == full);
static_assert(flops(declare({.twoClocks = true})) == full);

constexpr Graph declareLinear() {
  Graph graph;
  const Tensor x = graph.input("x", {batch, length, width}, Dtype::f32);
  const Tensor y = silu(nn::linear(x, 24, "proj"));
  graph.output("loss", reduce_sum(reshape(y, {batch, length * 24}), {.dims = {0, 1}}));
  return graph;
}

// 2MNK and its two gradients; nothing for the activation.
static_assert(flops(declareLinear()) == 3 * 2 * batch * length * width * 24);
static_assert(flops_full_attention(declareLinear()) == flops(declareLinear()));
static_assert(parameters(declareLinear()) == 24 * width);
static_assert(parameter_bytes(declareLinear()) == 4 * 24 * width);
static_assert(gradient_bytes(declareLinear()) == 4 * 24 * width);
static_assert(state_bytes(declareLinear()) == 2 * 4 * 24 * width);
// The product, its activation and the sum; a reshape is no result of its own.
static_assert(activations(declareLinear()) == 4 * (2 * batch * length * 24 + 1));

TEST(Constants, AreTheSameAtRunTime) {
  EXPECT_EQ(flops(declare({})), full * (length + 1) / (2 * length));
  EXPECT_EQ(activations(declareLinear()), 4 * (2 * batch * length * 24 + 1));
}

} // namespace
} // namespace burin
