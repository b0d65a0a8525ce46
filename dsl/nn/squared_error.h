// nn::squared_error: the sum, over all rows, of weight * the squares of prediction - target; a sum and not a mean, like
// cross_entropy, so that accumulation stays exact. A weight of 0 leaves a row out.
#pragma once

#include "../ops/mul.h"
#include "../ops/reduce_sum.h"
#include "../ops/sub.h"

namespace burin::nn {

// prediction and target [rows, width], weights [rows, 1].
constexpr Tensor squared_error(Tensor prediction, Tensor target, Tensor weights,
                               const Site &site = std::source_location::current()) {
  checkAt(site.place, prediction.shape().rank() == 2 && prediction.shape() == target.shape(),
          "a squared error needs predictions and targets of one shape, [rows, width]", "prediction", prediction.shape(),
          "target", target.shape());
  checkAt(site.place, weights.shape() == Shape{prediction.shape()[0], 1},
          "the weights of a squared error are [rows, 1]", "weights", weights.shape(), "prediction", prediction.shape());
  const Tensor difference = sub(prediction, target, site);
  const Tensor square = mul(difference, difference, site);
  return reduce_sum(mul(square, weights, site), {.dims = {0, 1}}, site);
}

} // namespace burin::nn
