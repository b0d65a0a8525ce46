// sqrt: square root.
#include "ops/sqrt.h"
#include "passes/ir/infer.h"
#include "passes/ops/div.h"
#include "passes/ops/scalar.h"
#include "passes/ops/scale.h"
#include "passes/ops/sqrt.h"

using namespace mlir;

namespace burin {

template <typename Op> static Sqrt rule(Op) { return {}; }

Value SqrtOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]);
  return x.of<math::SqrtOp>();
}

// dx = dy / (2 y)
void SqrtOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = b.make<DivOp>(b.make<ScaleOp>(gradients[0], APFloat(0.5)), getY());
}

} // namespace burin

#include "passes/ops/sqrt.inc"
