// attention_grad: here alone, with regions written by hand; as the adjoint of whole chains in attention_test.cpp.
#include <cmath>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  const Values &q = call.in(0), &k = call.in(1), &v = call.in(2), &out = call.in(3), &maximum = call.in(4),
               &rsum = call.in(5), &dout = call.in(6);
  std::vector<Values> arguments = {matrixProduct(q, k, false, true)};
  for (size_t i = 7; i < call.size(); ++i)
    arguments.push_back(call.in(i));
  const Results yielded = call.region(0, arguments);
  Values p = yielded[0], dz = matrixProduct(dout, v, false, true);
  auto thin = [&](Values &x) {
    if (yielded.size() == 2)
      x = elementwise(x, yielded[1], [](double element, double factor) { return element * factor; });
  };
  thin(dz);
  for (int64_t row = 0; row < p.rows(); ++row) {
    double delta = 0;
    for (int64_t d = 0; d < out.width(); ++d)
      delta += out[row * out.width() + d] * dout[row * out.width() + d];
    for (int64_t c = row * p.width(); c < (row + 1) * p.width(); ++c) {
      p[c] = std::exp(p[c] - maximum[row]) * rsum[row];
      dz[c] = p[c] * (dz[c] - delta);
    }
  }
  arguments.push_back(dz);
  const Values ds = call.region(1, arguments)[0];
  thin(p);
  return {matrixProduct(ds, k, false, false), matrixProduct(ds, q, true, false), matrixProduct(p, dout, true, false)};
}

static std::vector<OpCase> cases() {
  // f(s, b) = s^2 + b; its derivative is 2 s.
  return {{.name = "a squared score plus a bias",
           .operands = {{.shape = {2, 7, 5}},
                        {.shape = {2, 13, 5}, .lower = -1, .upper = 1},
                        {.shape = {2, 13, 3}},
                        {.shape = {2, 7, 3}},
                        {.shape = {2, 7}, .lower = 5, .upper = 6},
                        {.shape = {2, 7}, .lower = 0, .upper = 1},
                        {.shape = {2, 7, 3}},
                        {.shape = {7, 13}}},
           .build = {},
           .text = R"(
func.func @op(%q: tensor<2x7x5xf32>, %k: tensor<2x13x5xf32>, %v: tensor<2x13x3xf32>, %out: tensor<2x7x3xf32>, %maximum: tensor<2x7xf32>,
              %rsum: tensor<2x7xf32>, %dout: tensor<2x7x3xf32>, %bias: tensor<7x13xf32>) -> (tensor<2x7x5xf32>, tensor<2x13x5xf32>, tensor<2x13x3xf32>) {
  %dq, %dk, %dv = burin.attention_grad %q, %k, %v, %out, %maximum, %rsum, %dout with %bias
    : (tensor<2x7x5xf32>, tensor<2x13x5xf32>, tensor<2x13x3xf32>, tensor<2x7x3xf32>, tensor<2x7xf32>, tensor<2x7xf32>, tensor<2x7x3xf32>, tensor<7x13xf32>)
    -> (tensor<2x7x5xf32>, tensor<2x13x5xf32>, tensor<2x13x3xf32>) {
  ^bb0(%s: tensor<f32>, %b: tensor<f32>):
    %square = burin.mul %s, %s : tensor<f32>, tensor<f32>
    %z = burin.add %square, %b : tensor<f32>, tensor<f32>
    burin.yield %z : tensor<f32>
  }, {
  ^bb0(%s: tensor<f32>, %b: tensor<f32>, %dz: tensor<f32>):
    %twice = burin.scale %s by 2.0 : tensor<f32>
    %ds = burin.mul %twice, %dz : tensor<f32>, tensor<f32>
    burin.yield %ds : tensor<f32>
  }
  return %dq, %dk, %dv : tensor<2x7x5xf32>, tensor<2x13x5xf32>, tensor<2x13x3xf32>
})",
           // e^(s^2 - maximum) magnifies the error of s.
           .tolerance = 1e-4},
          // f(s, m) = s; the weights are multiplied by m.
          {.name = "weights with a factor",
           .operands = {{.shape = {3, 7, 5}},
                        {.shape = {3, 33, 5}, .lower = -1, .upper = 1},
                        {.shape = {3, 33, 3}},
                        {.shape = {3, 7, 3}},
                        {.shape = {3, 7}, .lower = 5, .upper = 6},
                        {.shape = {3, 7}, .lower = 0, .upper = 1},
                        {.shape = {3, 7, 3}},
                        {.shape = {3, 1, 33}}},
           .build = {},
           .text = R"(
func.func @op(%q: tensor<3x7x5xf32>, %k: tensor<3x33x5xf32>, %v: tensor<3x33x3xf32>, %out: tensor<3x7x3xf32>, %maximum: tensor<3x7xf32>,
              %rsum: tensor<3x7xf32>, %dout: tensor<3x7x3xf32>, %factor: tensor<3x1x33xf32>) -> (tensor<3x7x5xf32>, tensor<3x33x5xf32>, tensor<3x33x3xf32>) {
  %dq, %dk, %dv = burin.attention_grad %q, %k, %v, %out, %maximum, %rsum, %dout with %factor
    : (tensor<3x7x5xf32>, tensor<3x33x5xf32>, tensor<3x33x3xf32>, tensor<3x7x3xf32>, tensor<3x7xf32>, tensor<3x7xf32>, tensor<3x7x3xf32>, tensor<3x1x33xf32>)
    -> (tensor<3x7x5xf32>, tensor<3x33x5xf32>, tensor<3x33x3xf32>) {
  ^bb0(%s: tensor<f32>, %m: tensor<f32>):
    burin.yield %s, %m : tensor<f32>, tensor<f32>
  }, {
  ^bb0(%s: tensor<f32>, %m: tensor<f32>, %dz: tensor<f32>):
    burin.yield %dz : tensor<f32>
  }
  return %dq, %dk, %dv : tensor<3x7x5xf32>, tensor<3x33x5xf32>, tensor<3x33x3xf32>
})",
           .tolerance = 1e-5}};
}

static const OpTest test("attention_grad", reference, cases);

} // namespace burin::test
