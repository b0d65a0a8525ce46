// transpose: dimensions in another order.
#include "ops/transpose.h"
#include "passes/ir/infer.h"
#include "passes/ops/transpose.h"

using namespace mlir;

namespace burin {

template <typename Op> static Transpose rule(Op op) { return {.permutation = shapeOf(op.getPermutation())}; }

static SmallVector<int64_t> inverted(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [i, source] : llvm::enumerate(permutation))
    inverse[source] = i;
  return inverse;
}

FailureOr<Strided> TransposeOp::viewOf(const Strided &operand) { return permuted(operand, getPermutation()); }
FailureOr<Strided> TransposeOp::viewedFrom(const Strided &result) {
  return permuted(result, inverted(getPermutation()));
}
Value TransposeOp::undo(OpBuilder &b, Value result) {
  return TransposeOp::create(b, getLoc(), result, inverted(getPermutation()));
}

// dx = dy, transposed back
void TransposeOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = b.make<TransposeOp>(gradients[0], inverted(getPermutation()));
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (llvm::is_sorted(getPermutation()))
    return getX();
  auto inner = getX().getDefiningOp<TransposeOp>();
  if (!inner)
    return {};
  SmallVector<int64_t> both;
  for (int64_t middle : getPermutation())
    both.push_back(inner.getPermutation()[middle]);
  setPermutation(both);
  getXMutable().assign(inner.getX());
  return getY();
}

} // namespace burin

#include "passes/ops/transpose.inc"
