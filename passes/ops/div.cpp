// div: quotient with broadcasting.
#include "ops/div.h"
#include "passes/ir/infer.h"
#include "passes/ops/div.h"
#include "passes/ops/mul.h"
#include "passes/ops/scalar.h"
#include "passes/ops/scale.h"

using namespace mlir;

namespace burin {

template <typename Op> static Div rule(Op) { return {}; }

Value DivOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]), y(b, loc, operands[1]);
  return x / y;
}

// dlhs = dy / rhs,  drhs = -dy * y / rhs
void DivOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  Value dy = gradients[0];
  if (b.needs(getLhs()))
    operandGradients[0] = sumToType(b, b.make<DivOp>(dy, getRhs()), getLhs().getType());
  if (b.needs(getRhs()))
    operandGradients[1] = sumToType(
        b, b.make<ScaleOp>(b.make<MulOp>(dy, b.make<DivOp>(getY(), getRhs())), APFloat(-1.0)), getRhs().getType());
}

} // namespace burin

#include "passes/ops/div.inc"
