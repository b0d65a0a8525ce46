// matmul: matrix product, batched or with a shared right side.
#include "ops/matmul.h"
#include "passes/ir/infer.h"
#include "passes/ops/matmul.h"
#include "passes/ops/reshape.h"

using namespace mlir;

namespace burin {

template <typename Op> static Matmul rule(Op op) {
  return {.transpose_a = op.getTransposeA(), .transpose_b = op.getTransposeB()};
}

bool MatmulOp::transposesLhs() { return getTransposeA(); }
bool MatmulOp::transposesRhs() { return getTransposeB(); }

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
