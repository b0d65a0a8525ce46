// Regressions: a straight line, and a small network for curves. One number in, one out.
#include <burin.h>

namespace {

struct Mlp {
  int hidden = 64, layers = 2; // 0 layers: a straight line
  double range = 6.3;          // how far x goes to either side of 0
};

constexpr burin::Graph declare(const Mlp &m, burin::Batch batch) {
  using namespace burin;
  Graph graph;
  const Tensor x = graph.input("x", {batch.rows, 1}, Dtype::f32);
  const Tensor y = graph.input("y", {batch.rows, 1}, Dtype::f32);
  const Tensor weights = graph.input("weights", {batch.rows, 1}, Dtype::f32);
  const auto linear = [&](Tensor in, int64_t out, const Scope &scope, double weightBound, double biasBound) {
    const Tensor weight =
        graph.parameter("weight", {out, in.shape().back()}, uniform(weightBound), /*decay=*/true, scope);
    const Tensor bias = graph.parameter("bias", {out}, uniform(biasBound), /*decay=*/false, scope);
    return add(matmul(in, weight, {.transpose_b = true}, scope), bias, scope);
  };
  // The first layer's bends lie where its biases put them: all over the range of x, or the curve is learnt in its
  // middle alone. What follows starts small.
  const double small = 1 / squareRoot(static_cast<double>(m.hidden));
  Tensor h = x;
  for (int i = 0; i < m.layers; ++i)
    h = tanh(i == 0 ? linear(h, m.hidden, Scope("layers") / i, 1.5, m.range)
                    : linear(h, m.hidden, Scope("layers") / i, small, small));
  const Tensor prediction = linear(h, 1, "out", small, small);
  graph.output("prediction", prediction);
  graph.output("loss", nn::squared_error(prediction, y, weights));
  return graph;
}

static_assert(burin::parameters(declare(Mlp{.layers = 0}, {128, 1})) == 2);
static_assert(burin::parameters(declare(Mlp{}, {128, 1})) == 64 + 64 + 64 * 64 + 64 + 64 + 1);

} // namespace

BURIN_MODEL(line, declare, Mlp{.layers = 0});
BURIN_MODEL(mlp, declare, Mlp{});
