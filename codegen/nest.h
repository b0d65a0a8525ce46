// The loops of a linalg.generic on tiles, as every machine wants to see them first: a stride for each operand and loop;
// loops of one turn gone, and loops that walk through all operands as one joined.
//
// `Operand` has at least `tile` (with `sizes` and `strides`), `strides` (by loop; 0 where the operand lacks it) and
// `argument` (of the nest's body).
#pragma once

#include <limits>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/TypeSwitch.h"

namespace burin {

// How two partial results become one: known only for folds such as sum and maximum.
struct Fold {
  // Of the body; its operands are the value so far and something that does not depend on it.
  mlir::Operation *op = nullptr;
  double neutral = 0;
};

// The fold that the body computes for the result that is `soFar` in it; nothing where partial results cannot be joined.
inline Fold foldOf(mlir::linalg::GenericOp nest, mlir::BlockArgument soFar) {
  using namespace mlir;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value yielded = nest.getBody()->getTerminator()->getOperand(soFar.getArgNumber() - nest.getNumDpsInputs());
  Operation *fold = yielded.getDefiningOp();
  // x > now ? x : now
  if (auto choice = dyn_cast_or_null<arith::SelectOp>(fold)) {
    auto greater = choice.getCondition().getDefiningOp<arith::CmpFOp>();
    if (greater && greater.getPredicate() == arith::CmpFPredicate::OGT && greater.getRhs() == soFar &&
        choice.getFalseValue() == soFar && greater.getLhs() == choice.getTrueValue() &&
        llvm::range_size(soFar.getUses()) == 2 && greater->hasOneUse() && yielded.hasOneUse())
      return {fold, -infinity};
    return {};
  }
  if (!fold || !yielded.hasOneUse() || !soFar.hasOneUse() || *soFar.getUsers().begin() != fold)
    return {};
  if (auto fma = dyn_cast<math::FmaOp>(fold))
    return fma.getC() == soFar ? Fold{fold, 0} : Fold{};
  return llvm::TypeSwitch<Operation *, Fold>(fold)
      .Case<arith::AddFOp, arith::AddIOp, arith::OrIOp>([&](auto) {
        return Fold{fold, 0};
      })
      .Case<arith::MulFOp, arith::MulIOp>([&](auto) {
        return Fold{fold, 1};
      })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>([&](auto) {
        return Fold{fold, -infinity};
      })
      .Case<arith::MinimumFOp, arith::MinNumFOp>([&](auto) {
        return Fold{fold, infinity};
      })
      .Case<arith::MaxSIOp>([&](auto) {
        return Fold{fold, static_cast<double>(std::numeric_limits<int32_t>::min())};
      })
      .Case<arith::MinSIOp>([&](auto) {
        return Fold{fold, static_cast<double>(std::numeric_limits<int32_t>::max())};
      })
      .Case<arith::AndIOp>([&](auto) {
        return Fold{fold, -1};
      })
      .Default([](Operation *) { return Fold{}; });
}

// Two partial results as one.
inline mlir::Value join(mlir::OpBuilder &b, mlir::Location loc, const Fold &fold, mlir::Value soFar, mlir::Value more) {
  using namespace mlir;
  if (isa<math::FmaOp>(fold.op))
    return arith::AddFOp::create(b, loc, soFar, more);
  if (isa<arith::SelectOp>(fold.op)) {
    Value greater = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, more, soFar);
    return arith::SelectOp::create(b, loc, greater, more, soFar);
  }
  OperationState state(loc, fold.op->getName(), ValueRange{soFar, more}, soFar.getType(), fold.op->getAttrs());
  return b.create(state)->getResult(0);
}

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
