// maximum: of two, with broadcasting.
#include "ops/maximum.h"
#include "passes/ir/infer.h"
#include "passes/ops/constant.h"
#include "passes/ops/greater_equal.h"
#include "passes/ops/maximum.h"
#include "passes/ops/scalar.h"
#include "passes/ops/where.h"

using namespace mlir;

namespace burin {

template <typename Op> static Maximum rule(Op) { return {}; }

Value MaximumOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]), y(b, loc, operands[1]);
  return max(x, y);
}

// dlhs = dy where lhs >= rhs, else 0;  drhs = 0 where lhs >= rhs, else dy
void MaximumOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  Value first = b.make<GreaterEqualOp>(getLhs(), getRhs()), zero = b.make<ConstantOp>(0.0);
  if (b.needs(getLhs()))
    operandGradients[0] = sumToType(b, b.make<WhereOp>(first, gradients[0], zero), getLhs().getType());
  if (b.needs(getRhs()))
    operandGradients[1] = sumToType(b, b.make<WhereOp>(first, zero, gradients[0]), getRhs().getType());
}

} // namespace burin

#include "passes/ops/maximum.inc"
