// slice: consecutive rows. See the .td file.
#include "ops/slice.h"
#include "passes/ir/infer.h"
#include "passes/ops/concat.h"
#include "passes/ops/constant.h"
#include "passes/ops/slice.h"

using namespace mlir;

namespace burin {

template <typename Op> static Slice rule(Op op) {
  return {.start = int64_t(op.getStart()), .size = int64_t(op.getSize())};
}

// dx = 0 around dy
void SliceOp::adjoint(AdjointBuilder &b, ValueRange resultGradients, MutableArrayRef<Value> operandGradients) {
  auto whole = cast<RankedTensorType>(getX().getType());
  SmallVector<Value> parts;
  auto zeros = [&](int64_t rows) {
    SmallVector<int64_t> sizes(whole.getShape());
    sizes[0] = rows;
    if (rows > 0)
      parts.push_back(b.make<ConstantOp>(Type(whole.clone(sizes)), b.b.getF64FloatAttr(0)));
  };
  zeros(getStart());
  parts.push_back(resultGradients[0]);
  zeros(whole.getDimSize(0) - getStart() - getSize());
  operandGradients[0] = parts.size() == 1 ? parts[0] : b.make<ConcatOp>(parts);
}

FailureOr<Strided> SliceOp::viewOf(const Strided &x) {
  Strided result = x;
  result.offset += int64_t(getStart()) * x.strides[0];
  result.sizes[0] = getSize();
  return result;
}

// The rows beside the slice have no place in it.
FailureOr<Strided> SliceOp::viewedFrom(const Strided &y) {
  if (getX().getType() == getY().getType())
    return y;
  return failure();
}

Value SliceOp::undo(OpBuilder &, Value) { return {}; }

} // namespace burin

#include "passes/ops/slice.inc"
