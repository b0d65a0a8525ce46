// nn::rms_norm: the op with a learned gain, which starts at 1 and is not decayed.
#pragma once

#include "../ops/rms_norm.h"

namespace burin::nn {

constexpr Tensor rms_norm(Tensor x, const Scope &scope, RmsNorm op = {}) {
  checkAt(scope.place, x.shape().rank() >= 1, "a norm needs a last dimension to run over", "x", x.shape());
  const Tensor gain = x.graph->parameter("weight", {x.shape().back()}, constant(1), /*decay=*/false, scope);
  return burin::rms_norm(x, gain, op, scope);
}

} // namespace burin::nn
