// is_finite: 1 where x is neither infinite nor NaN.
#include <limits>

#include "ops/is_finite.h"
#include "passes/ir/infer.h"
#include "passes/ops/is_finite.h"
#include "passes/ops/scalar.h"

using namespace mlir;

namespace burin {

template <typename Op> static IsFinite rule(Op) { return {}; }

Value IsFiniteOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]);
  return (x.of<math::AbsFOp>() < x.number(std::numeric_limits<double>::infinity())).asMask();
}

} // namespace burin

#include "passes/ops/is_finite.inc"
