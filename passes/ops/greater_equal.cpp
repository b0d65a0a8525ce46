// greater_equal: 1 where lhs >= rhs, else 0.
#include "ops/greater_equal.h"
#include "passes/ir/infer.h"
#include "passes/ops/greater_equal.h"
#include "passes/ops/scalar.h"

using namespace mlir;

namespace burin {

template <typename Op> static GreaterEqual rule(Op) { return {}; }

Value GreaterEqualOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]), y(b, loc, operands[1]);
  return (x >= y).asMask();
}

} // namespace burin

#include "passes/ops/greater_equal.inc"
