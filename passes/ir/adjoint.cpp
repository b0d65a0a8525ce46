// Undoes broadcasting for gradients.
#include "passes/ir/adjoint.h"

#include "passes/ops/reduce_sum.h"
#include "passes/ops/reshape.h"

namespace burin {

mlir::Value sumToType(AdjointBuilder &b, mlir::Value gradient, mlir::Type type) {
  llvm::ArrayRef<int64_t> from = mlir::cast<mlir::RankedTensorType>(gradient.getType()).getShape();
  llvm::ArrayRef<int64_t> to = mlir::cast<mlir::RankedTensorType>(type).getShape();
  const int64_t added = from.size() - to.size();
  llvm::SmallVector<int64_t> dims;
  for (int64_t i = 0; i < int64_t(from.size()); ++i)
    if (i < added || to[i - added] != from[i])
      dims.push_back(i);
  if (!dims.empty())
    gradient = b.make<ReduceSumOp>(gradient, dims);
  // What was stretched from 1 comes back as 1.
  return gradient.getType() == type ? gradient : b.make<ReshapeOp>(gradient, to);
}

} // namespace burin
