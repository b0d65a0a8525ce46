// add: sum with broadcasting.
#include "ops/add.h"
#include "passes/ir/infer.h"
#include "passes/ops/add.h"
#include "passes/ops/constant.h"
#include "passes/ops/scalar.h"

using namespace mlir;

namespace burin {

template <typename Op> static Add rule(Op) { return {}; }

Value AddOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]), y(b, loc, operands[1]);
  return x + y;
}

// dlhs = dy,  drhs = dy
void AddOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  Value dy = gradients[0];
  if (b.needs(getLhs()))
    operandGradients[0] = sumToType(b, dy, getLhs().getType());
  if (b.needs(getRhs()))
    operandGradients[1] = sumToType(b, dy, getRhs().getType());
}

OpFoldResult AddOp::fold(FoldAdaptor) {
  auto isZero = [](Value value) {
    auto constant = value.getDefiningOp<ConstantOp>();
    return constant && constant.getValue().isZero();
  };
  if (isZero(getRhs()) && getLhs().getType() == getY().getType())
    return getLhs();
  if (isZero(getLhs()) && getRhs().getType() == getY().getType())
    return getRhs();
  return {};
}

} // namespace burin

#include "passes/ops/add.inc"
