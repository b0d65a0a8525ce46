// log: natural logarithm.
#include "ops/log.h"
#include "passes/ir/infer.h"
#include "passes/ops/div.h"
#include "passes/ops/log.h"
#include "passes/ops/scalar.h"

using namespace mlir;

namespace burin {

template <typename Op> static Log rule(Op) { return {}; }

Value LogOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]);
  return x.of<math::LogOp>();
}

bool LogOp::isExpensive() { return true; }

// dx = dy / x
void LogOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = b.make<DivOp>(gradients[0], getX());
}

} // namespace burin

#include "passes/ops/log.inc"
