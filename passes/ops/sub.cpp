// sub: difference with broadcasting.
#include "ops/sub.h"
#include "passes/ir/infer.h"
#include "passes/ops/scalar.h"
#include "passes/ops/scale.h"
#include "passes/ops/sub.h"

using namespace mlir;

namespace burin {

template <typename Op> static Sub rule(Op) { return {}; }

Value SubOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]), y(b, loc, operands[1]);
  return x - y;
}

// dlhs = dy,  drhs = -dy
void SubOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  Value dy = gradients[0];
  if (b.needs(getLhs()))
    operandGradients[0] = sumToType(b, dy, getLhs().getType());
  if (b.needs(getRhs()))
    operandGradients[1] = sumToType(b, b.make<ScaleOp>(dy, APFloat(-1.0)), getRhs().getType());
}

} // namespace burin

#include "passes/ops/sub.inc"
