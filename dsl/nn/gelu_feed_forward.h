// nn::gelu_feed_forward: the plain feed-forward layer, w2(gelu(w1 x)).
#pragma once

#include "../ops/gelu.h"
#include "linear.h"

namespace burin::nn {

struct GeluFeedForward {
  Gelu gelu = {.approximate = true};
  Linear in = {}, out = {}; // w1 and w2
};

constexpr Tensor gelu_feed_forward(Tensor x, int64_t hidden, const Scope &scope, const GeluFeedForward &options = {}) {
  const int64_t width = x.shape().back();
  const Tensor inner = gelu(linear(x, hidden, scope / "w1", options.in), options.gelu, scope);
  return linear(inner, width, scope / "w2", options.out);
}

} // namespace burin::nn
