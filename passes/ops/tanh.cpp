// tanh: hyperbolic tangent.
#include "ops/tanh.h"
#include "passes/ir/infer.h"
#include "passes/ops/constant.h"
#include "passes/ops/mul.h"
#include "passes/ops/scalar.h"
#include "passes/ops/sub.h"
#include "passes/ops/tanh.h"

using namespace mlir;

namespace burin {

template <typename Op> static Tanh rule(Op) { return {}; }

Value TanhOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]);
  return x.of<math::TanhOp>();
}

bool TanhOp::isExpensive() { return true; }

// dx = dy * (1 - y^2)
void TanhOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  Value slope = b.make<SubOp>(b.make<ConstantOp>(1.0), b.make<MulOp>(getY(), getY()));
  operandGradients[0] = b.make<MulOp>(gradients[0], slope);
}

} // namespace burin

#include "passes/ops/tanh.inc"
