// slice: consecutive rows. See the .td file.
#include "passes/ops/slice.h"

#include "passes/ir/infer.h"
#include "passes/ops/concat.h"
#include "passes/ops/constant.h"

using namespace mlir;

namespace burin {

namespace {
struct Slice {
  static constexpr std::string_view mnemonic = "slice";
  int64_t start, size;

  Shape shape(const Shape &x) const {
    check(x.rank() >= 1, "slice needs a first dimension to cut", "x", x);
    check(0 <= start && 1 <= size && start <= x[0] - size, "a slice must lie within its input", "x", x, "start", start,
          "size", size);
    Shape result = x;
    result[0] = size;
    return result;
  }
  static Dtype dtype(Dtype x) { return x; }
  static Cost cost(const Shape &) { return {}; }
};

template <typename Op> Slice rule(Op op) { return {int64_t(op.getStart()), int64_t(op.getSize())}; }
} // namespace

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
