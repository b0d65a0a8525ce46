// silu: x times its logistic function.
#include "ops/silu.h"
#include "passes/ir/infer.h"
#include "passes/ops/add.h"
#include "passes/ops/constant.h"
#include "passes/ops/mul.h"
#include "passes/ops/scalar.h"
#include "passes/ops/sigmoid.h"
#include "passes/ops/silu.h"
#include "passes/ops/sub.h"

using namespace mlir;

namespace burin {

template <typename Op> static Silu rule(Op) { return {}; }

Value SiluOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]);
  return x / (exp(-x) + 1);
}

bool SiluOp::isExpensive() { return true; }

// dx = dy * s * (1 + x * (1 - s)),  s = sigmoid(x)
void SiluOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  Value one = b.make<ConstantOp>(1.0), s = b.make<SigmoidOp>(getX());
  Value slope = b.make<MulOp>(s, b.make<AddOp>(one, b.make<MulOp>(getX(), b.make<SubOp>(one, s))));
  operandGradients[0] = b.make<MulOp>(gradients[0], slope);
}

} // namespace burin

#include "passes/ops/silu.inc"
