// What the reductions share: bringing any set of dimensions into the two forms that grouping knows, rows (the last
// dimension) and columns (the first ones).
#pragma once

#include "passes/ops/reshape.h"
#include "passes/ops/transpose.h"

namespace burin {

// Empty where the op has one of the two forms already.
template <typename Op> llvm::SmallVector<mlir::Value> expandReduction(Op op, mlir::OpBuilder &b) {
  const mlir::Location loc = op.getLoc();
  mlir::Value x = op.getX();
  const int64_t rank = op.getX().getType().getRank(), last = rank - 1;
  llvm::SmallVector<int64_t> dims(op.getDims());
  llvm::sort(dims);
  auto keeping = [&](mlir::Value from, llvm::ArrayRef<int64_t> over) -> mlir::Value {
    return Op::create(b, loc, from, over, true);
  };
  auto isPrefix = [](llvm::ArrayRef<int64_t> some) { return some.empty() || some.back() == int64_t(some.size()) - 1; };

  if (!op.getKeepDims())
    return {ReshapeOp::create(b, loc, keeping(x, dims), op.getY().getType().getShape())};
  if (dims.empty())
    return {ReshapeOp::create(b, loc, x, op.getY().getType().getShape())};
  if (dims == llvm::SmallVector<int64_t>{last} || (isPrefix(dims) && dims.back() != last))
    return {};
  // Rows first: they are contiguous, and what is left is one element a row.
  if (dims.back() == last) {
    dims.pop_back();
    return {keeping(keeping(x, {last}), dims)};
  }
  llvm::SmallVector<int64_t> order(dims), back(rank);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      order.push_back(dim);
  for (int64_t dim = 0; dim < rank; ++dim)
    back[order[dim]] = dim;
  auto first = llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
  mlir::Value turned = TransposeOp::create(b, loc, x, order);
  return {TransposeOp::create(b, loc, keeping(turned, first), back)};
}

} // namespace burin
