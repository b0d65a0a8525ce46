// nn::swiglu: the gated feed-forward layer, w2(silu(w1 x) * w3 x), from primitives.
#pragma once

#include "../ops/mul.h"
#include "../ops/silu.h"
#include "linear.h"

namespace burin::nn {

constexpr Tensor swiglu(Tensor x, int64_t hidden, const Scope &scope) {
  const int64_t width = x.shape().back();
  const Tensor gate = silu(linear(x, hidden, scope / "w1"), scope);
  const Tensor up = linear(x, hidden, scope / "w3");
  return linear(mul(gate, up, scope), width, scope / "w2");
}

} // namespace burin::nn
