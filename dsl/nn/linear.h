// nn::linear: y = x W^T, with a bias where it is asked for. The weight is (out, in), under the layer's name.
#pragma once

#include <optional>

#include "../core/math.h"
#include "../ops/add.h"
#include "../ops/matmul.h"

namespace burin::nn {

struct Linear {
  bool bias = false;                              // starts at 0; not decayed
  std::optional<Initializer> init = std::nullopt; // of the weight; nullopt: linearInitializer
};

// Keeps the variance of activations and of gradients near 1 (Glorot), without far outliers.
constexpr Initializer linearInitializer(int64_t in, int64_t out) {
  return truncatedNormal(squareRoot(2.0 / static_cast<double>(in + out)), 3);
}

constexpr Tensor linear(Tensor x, int64_t out, const Scope &scope, const Linear &options = {}) {
  checkAt(scope.place, x.shape().rank() >= 2, "a linear layer takes [..., rows, width]", "x", x.shape());
  checkAt(scope.place, out >= 1, "the width of a linear layer must be at least 1", "width", out);
  const int64_t in = x.shape().back();
  const Initializer init = options.init.value_or(linearInitializer(in, out));
  const Tensor weight = x.graph->parameter("weight", {out, in}, init, /*decay=*/true, scope);
  const Tensor product = matmul(x, weight, {.transpose_b = true}, scope);
  if (!options.bias)
    return product;
  return add(product, x.graph->parameter("bias", {out}, constant(0), /*decay=*/false, scope), scope);
}

} // namespace burin::nn
