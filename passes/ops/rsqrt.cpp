// rsqrt: reciprocal square root.
#include "passes/ops/rsqrt.h"
#include "passes/ir/infer.h"
#include "passes/ops/mul.h"
#include "passes/ops/scalar.h"
#include "passes/ops/scale.h"

using namespace mlir;

namespace burin {

namespace {
struct Rsqrt {
  static constexpr std::string_view mnemonic = "rsqrt";
  static Shape shape(const Shape &x) { return x; }
  static Cost cost(const Shape &x) { return {.other = 2 * x.size()}; }
};
} // namespace

template <typename Op> static Rsqrt rule(Op) { return {}; }

Value RsqrtOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]);
  return x.of<math::RsqrtOp>();
}

// dx = -dy * y^3 / 2
void RsqrtOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  Value cube = b.make<MulOp>(getY(), b.make<MulOp>(getY(), getY()));
  operandGradients[0] = b.make<MulOp>(gradients[0], b.make<ScaleOp>(cube, APFloat(-0.5)));
}

} // namespace burin

#include "passes/ops/rsqrt.inc"
