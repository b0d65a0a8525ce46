// The loops of a linalg.generic on tiles, as every machine wants to see them first: a stride for each operand and loop;
// loops of one turn gone, and loops that walk through all operands as one joined.
//
// `Operand` has at least `tile` (with `sizes` and `strides`), `strides` (by loop; 0 where the operand lacks it) and
// `argument` (of the nest's body).
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace burin {

template <typename Operand> class NestLoops {
protected:
  using Operands = llvm::SmallVector<Operand, 4>;

  explicit NestLoops(mlir::linalg::GenericOp op) : op(op) {}

  mlir::linalg::GenericOp op;
  Operands inputs, outputs;
  llvm::SmallVector<int64_t> extents; // of the remaining loops
  llvm::SmallVector<int64_t> loopOf;  // the nest's loop -> remaining loop, or -1 where it has one turn

  // resolve(value, operand) notes where a tile lies, or the value itself where it is a scalar, the same for all.
  mlir::LogicalResult read(llvm::function_ref<mlir::LogicalResult(mlir::Value, Operand &)> resolve) {
    extents.assign(op.getNumLoops(), 1);
    for (mlir::OpOperand *use : op.getDpsInputOperands())
      if (failed(readOperand(*use, inputs.emplace_back(), resolve)))
        return mlir::failure();
    for (mlir::OpOperand &use : op.getDpsInitsMutable())
      if (failed(readOperand(use, outputs.emplace_back(), resolve)))
        return mlir::failure();
    dropAndMerge();
    return mlir::success();
  }

private:
  mlir::LogicalResult readOperand(mlir::OpOperand &use, Operand &operand,
                                  llvm::function_ref<mlir::LogicalResult(mlir::Value, Operand &)> resolve) {
    operand.argument = op.getMatchingBlockArgument(&use);
    operand.strides.assign(op.getNumLoops(), 0);
    if (failed(resolve(use.get(), operand)))
      return mlir::failure();
    if (!mlir::isa<mlir::MemRefType>(use.get().getType()))
      return mlir::success();
    mlir::AffineMap map = op.getMatchingIndexingMap(&use);
    for (auto [dim, result] : llvm::enumerate(map.getResults())) {
      auto loop = mlir::dyn_cast<mlir::AffineDimExpr>(result);
      if (!loop) {
        auto constant = mlir::dyn_cast<mlir::AffineConstantExpr>(result);
        if (constant && constant.getValue() == 0)
          continue;
        return op.emitError() << "internal error: map " << mlir::AffineMapAttr::get(map)
                              << " of a nest is not a projected permutation (please report)";
      }
      extents[loop.getPosition()] = operand.tile.sizes[dim];
      operand.strides[loop.getPosition()] = operand.tile.strides[dim];
    }
    return mlir::success();
  }

  void remove(size_t loop) {
    extents.erase(extents.begin() + loop);
    for (Operands *list : {&inputs, &outputs})
      for (Operand &operand : *list)
        operand.strides.erase(operand.strides.begin() + loop);
    for (int64_t &now : loopOf)
      if (now == static_cast<int64_t>(loop))
        now = -1;
      else if (now > static_cast<int64_t>(loop))
        --now;
  }

  // Fewer and longer loops: longer runs of neighbours, fewer tails.
  void dropAndMerge() {
    loopOf = llvm::to_vector(llvm::seq<int64_t>(0, extents.size()));
    for (size_t loop = extents.size(); loop-- > 0;)
      if (extents[loop] == 1)
        remove(loop);
    llvm::SmallVector<bool> indexed(op.getNumLoops(), false);
    op.getBody()->walk([&](mlir::linalg::IndexOp index) { indexed[index.getDim()] = true; });
    auto isIndexed = [&](size_t loop) {
      for (auto [original, now] : llvm::enumerate(loopOf))
        if (now == static_cast<int64_t>(loop) && indexed[original])
          return true;
      return false;
    };
    for (size_t outer = extents.size() < 2 ? 0 : extents.size() - 1; outer-- > 0;) {
      size_t inner = outer + 1;
      auto contiguous = [&](const Operand &operand) {
        return operand.strides[outer] == operand.strides[inner] * extents[inner];
      };
      if (isIndexed(outer) || isIndexed(inner) || !llvm::all_of(inputs, contiguous) ||
          !llvm::all_of(outputs, contiguous))
        continue;
      extents[inner] *= extents[outer];
      remove(outer);
    }
  }
};

} // namespace burin
