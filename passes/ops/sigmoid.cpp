// sigmoid: logistic function.
#include "ops/sigmoid.h"
#include "passes/ir/infer.h"
#include "passes/ops/constant.h"
#include "passes/ops/mul.h"
#include "passes/ops/scalar.h"
#include "passes/ops/sigmoid.h"
#include "passes/ops/sub.h"

using namespace mlir;

namespace burin {

template <typename Op> static Sigmoid rule(Op) { return {}; }

Value SigmoidOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]);
  return 1 / (exp(-x) + 1);
}

bool SigmoidOp::isExpensive() { return true; }

// dx = dy * y * (1 - y)
void SigmoidOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  Value slope = b.make<MulOp>(getY(), b.make<SubOp>(b.make<ConstantOp>(1.0), getY()));
  operandGradients[0] = b.make<MulOp>(gradients[0], slope);
}

} // namespace burin

#include "passes/ops/sigmoid.inc"
