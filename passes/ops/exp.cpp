// exp: e^x.
#include "ops/exp.h"
#include "passes/ir/infer.h"
#include "passes/ops/exp.h"
#include "passes/ops/mul.h"
#include "passes/ops/scalar.h"

using namespace mlir;

namespace burin {

template <typename Op> static Exp rule(Op) { return {}; }

Value ExpOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]);
  return exp(x);
}

bool ExpOp::isExpensive() { return true; }

// dx = dy * y
void ExpOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = b.make<MulOp>(gradients[0], getY());
}

} // namespace burin

#include "passes/ops/exp.inc"
