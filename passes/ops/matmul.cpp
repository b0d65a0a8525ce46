// matmul: matrix product, batched or with a shared right side.
#include "ops/matmul.h"
#include "passes/ir/infer.h"
#include "passes/ops/matmul.h"
#include "passes/ops/reduce_sum.h"
#include "passes/ops/reshape.h"
#include "passes/ops/transpose.h"

using namespace mlir;

namespace burin {

template <typename Op> static Matmul rule(Op op) {
  return {.transpose_a = op.getTransposeA(), .transpose_b = op.getTransposeB()};
}

bool MatmulOp::transposesLhs() { return getTransposeA(); }
bool MatmulOp::transposesRhs() { return getTransposeB(); }

// A product far deeper than it is wide, such as the gradient of the rows that met the table of a vocabulary, is a sum
// of products: each reads a part of both sides once and writes a result that stays near. As one, either side would be
// read again for every block of the other.
SmallVector<Value> MatmulOp::expand(OpBuilder &b) {
  constexpr int64_t deep = 8192, mostParts = 8;
  ArrayRef<int64_t> y = getY().getType().getShape(), left = getLhs().getType().getShape();
  if (y.size() != 2)
    return {};
  const int64_t depth = left[getTransposeA() ? 0 : 1];
  if (depth < deep || depth < 8 * std::max(y[0], y[1]))
    return {};
  int64_t parts = mostParts;
  while (depth % parts != 0)
    --parts;
  if (parts == 1)
    return {};
  AdjointBuilder make{b, getLoc(), [](Value) { return true; }};
  auto cut = [&](Value side, int64_t dim) -> Value { // (..., depth, ...) -> (parts, ..., depth / parts, ...)
    ArrayRef<int64_t> sizes = cast<RankedTensorType>(side.getType()).getShape();
    if (dim == 0)
      return make.make<ReshapeOp>(side, ArrayRef<int64_t>{parts, depth / parts, sizes[1]});
    Value columns = make.make<ReshapeOp>(side, ArrayRef<int64_t>{sizes[0], parts, depth / parts});
    return make.make<TransposeOp>(columns, ArrayRef<int64_t>{1, 0, 2});
  };
  Value products = make.make<MatmulOp>(cut(getLhs(), getTransposeA() ? 0 : 1), cut(getRhs(), getTransposeB() ? 1 : 0),
                                       getTransposeA(), getTransposeB());
  return {make.make<ReduceSumOp>(products, ArrayRef<int64_t>{0}, /*keep_dims=*/false)};
}

// All leading dimensions as one: (rows, width).
static Value asRows(AdjointBuilder &b, Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  if (type.getRank() == 2)
    return x;
  const int64_t width = type.getShape().back();
  return b.make<ReshapeOp>(x, ArrayRef<int64_t>{type.getNumElements() / width, width});
}

// With A and B the operands as they are multiplied:  dA = dy B^T,  dB = A^T dy;  a transposed operand takes the
// transposed product.
void MatmulOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  Value dy = gradients[0], left = getLhs(), right = getRhs();
  if (b.needs(left))
    operandGradients[0] = getTransposeA() ? b.make<MatmulOp>(right, dy, getTransposeB(), true)
                                          : b.make<MatmulOp>(dy, right, false, !getTransposeB());
  if (!b.needs(right))
    return;
  // A shared right side collects from the rows of all leading dimensions.
  if (getRhs().getType().getRank() == 2) {
    left = asRows(b, left);
    dy = asRows(b, dy);
  }
  operandGradients[1] = getTransposeB() ? b.make<MatmulOp>(dy, left, true, getTransposeA())
                                        : b.make<MatmulOp>(left, dy, !getTransposeA(), false);
}

} // namespace burin

#include "passes/ops/matmul.inc"
