// relu: zero where negative.
#include "ops/relu.h"
#include "passes/ir/infer.h"
#include "passes/ops/constant.h"
#include "passes/ops/greater_equal.h"
#include "passes/ops/relu.h"
#include "passes/ops/scalar.h"
#include "passes/ops/where.h"

using namespace mlir;

namespace burin {

template <typename Op> static Relu rule(Op) { return {}; }

Value ReluOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]);
  return (x < x.number(0)).choose(x.number(0), x);
}

// dx = 0 where x <= 0, else dy
void ReluOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  Value zero = b.make<ConstantOp>(0.0), off = b.make<GreaterEqualOp>(zero, getX());
  operandGradients[0] = b.make<WhereOp>(off, zero, gradients[0]);
}

} // namespace burin

#include "passes/ops/relu.inc"
