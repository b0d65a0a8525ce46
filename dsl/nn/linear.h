// nn::linear: y = x W^T without a bias. The weight is (out, in), under the layer's name.
#pragma once

#include "../core/math.h"
#include "../ops/matmul.h"

namespace burin::nn {

// Keeps the variance of activations and of gradients near 1 (Glorot), without far outliers.
constexpr Initializer linearInitializer(int64_t in, int64_t out) {
  return truncatedNormal(squareRoot(2.0 / static_cast<double>(in + out)), 3);
}

constexpr Tensor linear(Tensor x, int64_t out, const Scope &scope) {
  checkAt(scope.place, x.shape().rank() >= 2, "a linear layer takes [..., rows, width]", "x", x.shape());
  checkAt(scope.place, out >= 1, "the width of a linear layer must be at least 1", "width", out);
  const int64_t in = x.shape().back();
  const Tensor weight = x.graph->parameter("weight", {out, in}, linearInitializer(in, out), /*decay=*/true, scope);
  return matmul(x, weight, {.transpose_b = true}, scope);
}

} // namespace burin::nn
