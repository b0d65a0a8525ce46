// nn::gelu_feed_forward: the plain feed-forward layer, w2(gelu(w1 x)).
#pragma once

#include "../ops/gelu.h"
#include "linear.h"

namespace burin::nn {

constexpr Tensor gelu_feed_forward(Tensor x, int64_t hidden, const Scope &scope, Gelu op = {.approximate = true}) {
  const int64_t width = x.shape().back();
  return linear(gelu(linear(x, hidden, scope / "w1"), op, scope), width, scope / "w2");
}

} // namespace burin::nn
