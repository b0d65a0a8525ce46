// reshape: the same elements in the same order, under another shape.
#include "ops/reshape.h"
#include "passes/ir/infer.h"
#include "passes/ops/reshape.h"

using namespace mlir;

namespace burin {

template <typename Op> static Reshape rule(Op op) { return {.to = shapeOf(op.getShape())}; }

FailureOr<Strided> ReshapeOp::viewOf(const Strided &operand) { return reshaped(operand, getShape()); }
FailureOr<Strided> ReshapeOp::viewedFrom(const Strided &result) {
  return reshaped(result, getX().getType().getShape());
}
Value ReshapeOp::undo(OpBuilder &b, Value result) {
  return ReshapeOp::create(b, getLoc(), result, getX().getType().getShape());
}

// dx = dy, under the shape of x
void ReshapeOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = b.make<ReshapeOp>(gradients[0], getX().getType().getShape());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  auto inner = getX().getDefiningOp<ReshapeOp>();
  if (!inner)
    return {};
  getXMutable().assign(inner.getX());
  return getY();
}

} // namespace burin

#include "passes/ops/reshape.inc"
