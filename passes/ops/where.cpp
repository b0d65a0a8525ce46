// where: choose by a mask.
#include "ops/where.h"
#include "passes/ir/infer.h"
#include "passes/ops/constant.h"
#include "passes/ops/scalar.h"
#include "passes/ops/where.h"

using namespace mlir;

namespace burin {

template <typename Op> static Where rule(Op) { return {}; }

Value WhereOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  return Scalar(b, loc, operands[0]).isSet().choose({b, loc, operands[1]}, {b, loc, operands[2]});
}

// dlhs = dy where the condition holds, else 0;  drhs = 0 where it holds, else dy
void WhereOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  Value zero = b.make<ConstantOp>(0.0);
  if (b.needs(getLhs()))
    operandGradients[1] = sumToType(b, b.make<WhereOp>(getCondition(), gradients[0], zero), getLhs().getType());
  if (b.needs(getRhs()))
    operandGradients[2] = sumToType(b, b.make<WhereOp>(getCondition(), zero, gradients[0]), getRhs().getType());
}

} // namespace burin

#include "passes/ops/where.inc"
