// nn::layer_norm: y = (x - mean) / sqrt(variance + eps) * gain + bias over the last dimension. The variance is the mean
// square of what is left after the mean is taken away, so this is rms_norm of that. The gain starts at 1, the bias at
// 0; neither is decayed.
#pragma once

#include "../ops/add.h"
#include "../ops/reduce_sum.h"
#include "../ops/rms_norm.h"
#include "../ops/scale.h"
#include "../ops/sub.h"

namespace burin::nn {

struct LayerNorm {
  double eps = 1e-5;
  bool bias = true;
};

constexpr Tensor layer_norm(Tensor x, const Scope &scope, const LayerNorm &options = {}) {
  const Shape shape = x.shape();
  checkAt(scope.place, shape.rank() >= 1, "a norm needs a last dimension to run over", "x", shape);
  const int64_t width = shape.back();
  const Tensor gain = x.graph->parameter("weight", {width}, constant(1), /*decay=*/false, scope);
  const Tensor sum = reduce_sum(x, {.dims = {shape.rank() - 1}, .keep_dims = true}, scope);
  const Tensor centred = sub(x, scale(sum, 1 / static_cast<double>(width), scope), scope);
  const Tensor normal = burin::rms_norm(centred, gain, {.eps = options.eps}, scope);
  if (!options.bias)
    return normal;
  return add(normal, x.graph->parameter("bias", {width}, constant(0), /*decay=*/false, scope), scope);
}

} // namespace burin::nn
