// sinusoid: sines and cosines of positions.
#include <cmath>

#include "ops/sinusoid.h"
#include "passes/ir/infer.h"
#include "passes/ops/scalar.h"
#include "passes/ops/sinusoid.h"

using namespace mlir;

namespace burin {

template <typename Op> static Sinusoid rule(Op op) {
  return {.width = int64_t(op.getWidth()), .theta = op.getTheta().convertToDouble()};
}

bool SinusoidOp::isExpensive() { return true; }

Value SinusoidOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()> lane) {
  const Type f64 = b.getF64Type();
  const Scalar position(b, loc, operands[0]);
  const Scalar j = position.make<arith::IndexCastOp>(b.getI32Type(), lane());
  // Which pair, and which of the two; without divisions, which machines have no lanes for.
  const Scalar one = j.number(1), pair = j.make<arith::ShRUIOp>(j, one);
  const Scalar isSine = j.make<arith::AndIOp>(j, one) == j.number(0);
  const double step = -2 * std::log(getTheta().convertToDouble()) / double(getWidth());
  const Scalar frequency = exp(pair.make<arith::SIToFPOp>(f64, pair) * step);
  const Scalar angle = position.make<arith::SIToFPOp>(f64, position) * frequency;
  const Scalar y = isSine.choose(angle.of<math::SinOp>(), angle.of<math::CosOp>());
  return y.make<arith::TruncFOp>(b.getF32Type(), y);
}

} // namespace burin

#include "passes/ops/sinusoid.inc"
