// gelu: x times the normal distribution function, by the error function or in its tanh form.
#include <cmath>

#include "ops/gelu.h"
#include "passes/ir/infer.h"
#include "passes/ops/gelu.h"
#include "passes/ops/gelu_slope.h"
#include "passes/ops/mul.h"
#include "passes/ops/scalar.h"

using namespace mlir;

namespace burin {

template <typename Op> static Gelu rule(Op op) { return {.approximate = op.getApproximate()}; }

Value GeluOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]);
  const Scalar sign = getApproximate() ? ((x * x * 0.044715 + 1) * x * std::sqrt(2 / M_PI)).of<math::TanhOp>()
                                       : (x * M_SQRT1_2).of<math::ErfOp>();
  return x * 0.5 * (sign + 1);
}

bool GeluOp::isExpensive() { return true; }

// dx = dy * gelu'(x)
void GeluOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = b.make<MulOp>(gradients[0], b.make<GeluSlopeOp>(getX(), getApproximate()));
}

} // namespace burin

#include "passes/ops/gelu.inc"
