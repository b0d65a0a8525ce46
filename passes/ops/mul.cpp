// mul: product with broadcasting.
#include "ops/mul.h"
#include "passes/ir/infer.h"
#include "passes/ops/mul.h"
#include "passes/ops/scalar.h"

using namespace mlir;

namespace burin {

template <typename Op> static Mul rule(Op) { return {}; }

Value MulOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]), y(b, loc, operands[1]);
  return x * y;
}

// dlhs = dy * rhs,  drhs = dy * lhs
void MulOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  Value dy = gradients[0];
  if (b.needs(getLhs()))
    operandGradients[0] = sumToType(b, b.make<MulOp>(dy, getRhs()), getLhs().getType());
  if (b.needs(getRhs()))
    operandGradients[1] = sumToType(b, b.make<MulOp>(dy, getLhs()), getRhs().getType());
}

} // namespace burin

#include "passes/ops/mul.inc"
