// rms_norm: divide each row by its root mean square, then scale by a gain.
#include "ops/rms_norm.h"
#include "passes/ir/infer.h"
#include "passes/ops/add.h"
#include "passes/ops/constant.h"
#include "passes/ops/mul.h"
#include "passes/ops/reduce_sum.h"
#include "passes/ops/rms_norm.h"
#include "passes/ops/rsqrt.h"
#include "passes/ops/scale.h"
#include "passes/ops/sub.h"

using namespace mlir;

namespace burin {

template <typename Op> static RmsNorm rule(Op op) { return {.eps = op.getEps().convertToDouble()}; }

// Over the last dimension, which is kept as 1.
static Value mean(OpBuilder &b, Location loc, Value x) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(x.getType()).getShape();
  auto sum = ReduceSumOp::create(b, loc, x, int64_t(shape.size()) - 1, true);
  return ScaleOp::create(b, loc, sum, APFloat(1.0 / shape.back()));
}

// 1 / sqrt(mean(x^2) + eps)
static Value reciprocalRoot(OpBuilder &b, Location loc, Value x, double eps) {
  Value square = mean(b, loc, MulOp::create(b, loc, x, x));
  return RsqrtOp::create(b, loc, AddOp::create(b, loc, square, ConstantOp::create(b, loc, eps)));
}

SmallVector<Value> RmsNormOp::expand(OpBuilder &b) {
  const Location loc = getLoc();
  Value rstd = reciprocalRoot(b, loc, getX(), getEps().convertToDouble());
  return {MulOp::create(b, loc, MulOp::create(b, loc, getX(), rstd), getGain())};
}

// dx = rstd * (gain*dy - x * rstd^2 * mean(gain*dy*x)),  dgain = sum over rows of x * rstd * dy
void RmsNormOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  Value dy = gradients[0], x = getX();
  Value rstd = reciprocalRoot(b.b, b.loc, x, getEps().convertToDouble());
  Value unit = b.make<MulOp>(x, rstd);
  if (b.needs(x)) {
    Value scaled = b.make<MulOp>(dy, getGain());
    Value along = b.make<MulOp>(unit, mean(b.b, b.loc, b.make<MulOp>(scaled, unit)));
    operandGradients[0] = b.make<MulOp>(rstd, b.make<SubOp>(scaled, along));
  }
  if (b.needs(getGain()))
    operandGradients[1] = sumToType(b, b.make<MulOp>(unit, dy), getGain().getType());
}

} // namespace burin

#include "passes/ops/rms_norm.inc"
