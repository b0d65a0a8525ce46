// minimum: of two, with broadcasting.
#include "ops/minimum.h"
#include "passes/ir/infer.h"
#include "passes/ops/constant.h"
#include "passes/ops/greater_equal.h"
#include "passes/ops/minimum.h"
#include "passes/ops/scalar.h"
#include "passes/ops/where.h"

using namespace mlir;

namespace burin {

template <typename Op> static Minimum rule(Op) { return {}; }

Value MinimumOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]), y(b, loc, operands[1]);
  return min(x, y);
}

// dlhs = dy where lhs <= rhs, else 0;  drhs = 0 where lhs <= rhs, else dy
void MinimumOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  Value first = b.make<GreaterEqualOp>(getRhs(), getLhs()), zero = b.make<ConstantOp>(0.0);
  if (b.needs(getLhs()))
    operandGradients[0] = sumToType(b, b.make<WhereOp>(first, gradients[0], zero), getLhs().getType());
  if (b.needs(getRhs()))
    operandGradients[1] = sumToType(b, b.make<WhereOp>(first, zero, gradients[0]), getRhs().getType());
}

} // namespace burin

#include "passes/ops/minimum.inc"
