// softmax: exponentials of each row, as shares of their sum.
#include <limits>

#include "ops/softmax.h"
#include "passes/ir/infer.h"
#include "passes/ops/constant.h"
#include "passes/ops/div.h"
#include "passes/ops/exp.h"
#include "passes/ops/maximum.h"
#include "passes/ops/mul.h"
#include "passes/ops/reduce_max.h"
#include "passes/ops/reduce_sum.h"
#include "passes/ops/softmax.h"
#include "passes/ops/sub.h"

using namespace mlir;

namespace burin {

template <typename Op> static Softmax rule(Op) { return {}; }

SmallVector<Value> SoftmaxOp::expand(OpBuilder &b) {
  const Location loc = getLoc();
  const int64_t last = getX().getType().getRank() - 1;
  // In a fully masked row all is -inf. The maximum is kept finite, so that its exponentials are 0 and not NaN, and so
  // is the sum's reciprocal: other sums are at least 1.
  auto lowest = ConstantOp::create(b, loc, double(std::numeric_limits<float>::lowest()));
  auto tiny = ConstantOp::create(b, loc, double(std::numeric_limits<float>::min()));
  auto maximum = MaximumOp::create(b, loc, ReduceMaxOp::create(b, loc, getX(), last, true), lowest);
  auto exponential = ExpOp::create(b, loc, SubOp::create(b, loc, getX(), maximum));
  auto sum = MaximumOp::create(b, loc, ReduceSumOp::create(b, loc, exponential, last, true), tiny);
  auto one = ConstantOp::create(b, loc, 1.0);
  return {MulOp::create(b, loc, exponential, DivOp::create(b, loc, one, sum))};
}

// dx = y * (dy - sum over the row of dy * y)
void SoftmaxOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  const int64_t last = getX().getType().getRank() - 1;
  Value sum = b.make<ReduceSumOp>(b.make<MulOp>(gradients[0], getY()), last, true);
  operandGradients[0] = b.make<MulOp>(getY(), b.make<SubOp>(gradients[0], sum));
}

} // namespace burin

#include "passes/ops/softmax.inc"
