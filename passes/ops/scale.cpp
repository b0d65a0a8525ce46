// scale: x times a number of the declaration.
#include "ops/scale.h"
#include "passes/ir/infer.h"
#include "passes/ops/scalar.h"
#include "passes/ops/scale.h"

using namespace mlir;

namespace burin {

template <typename Op> static Scale rule(Op op) { return {.factor = op.getFactor().convertToDouble()}; }

Value ScaleOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]);
  return x * getFactor().convertToDouble();
}

// dx = factor * dy
void ScaleOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = b.make<ScaleOp>(gradients[0], getFactor());
}

OpFoldResult ScaleOp::fold(FoldAdaptor) { return getFactor().isExactlyValue(1.0) ? getX() : Value(); }

} // namespace burin

#include "passes/ops/scale.inc"
