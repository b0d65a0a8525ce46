// gelu_slope: the derivative of gelu, one op because its parts have no other use.
#include <cmath>

#include "passes/ir/infer.h"
#include "passes/ops/gelu_slope.h"
#include "passes/ops/scalar.h"

using namespace mlir;

namespace burin {

namespace {
struct GeluSlope {
  static constexpr std::string_view mnemonic = "gelu_slope";
  static Shape shape(const Shape &x) { return x; }
  static Cost cost(const Shape &x) { return {.other = 12 * x.size()}; }
};
} // namespace

template <typename Op> static GeluSlope rule(Op) { return {}; }

// Exact:       P(x) + x * p(x), the distribution's function and density.
// Approximate: (1 + t)/2 + x/2 * (1 - t^2) * u',  t = tanh u,  u = sqrt(2/pi) * (x + 0.044715 x^3)
Value GeluSlopeOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]);
  if (!getApproximate()) {
    const Scalar distribution = ((x * M_SQRT1_2).of<math::ErfOp>() + 1) * 0.5;
    const Scalar density = exp(x * x * -0.5) * (1 / std::sqrt(2 * M_PI));
    return distribution + x * density;
  }
  const double k = std::sqrt(2 / M_PI), c = 0.044715;
  const Scalar square = x * x;
  const Scalar t = ((square * c + 1) * x * k).of<math::TanhOp>();
  return (t + 1) * 0.5 + x * 0.5 * (1 - t * t) * ((square * (3 * c) + 1) * k);
}

bool GeluSlopeOp::isExpensive() { return true; }

} // namespace burin

#include "passes/ops/gelu_slope.inc"
