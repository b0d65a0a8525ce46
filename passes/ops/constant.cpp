// constant: one number everywhere.
#include "passes/ops/constant.h"
#include "passes/ops/scalar.h"

using namespace mlir;

namespace burin {

void ConstantOp::build(OpBuilder &b, OperationState &state, double value) {
  build(b, state, RankedTensorType::get({}, b.getF32Type()), b.getF64FloatAttr(value));
}

Cost ConstantOp::cost() { return {}; }

Value ConstantOp::scalar(OpBuilder &b, Location loc, ValueRange, function_ref<Value()>) {
  const Type element = getY().getType().getElementType();
  const double value = getValue().convertToDouble();
  if (element.isInteger(32))
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
  return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(float(value)));
}

} // namespace burin

#include "passes/ops/constant.inc"
