// Builds the ops of sums.h.
#include "passes/grad/sums.h"

#include "passes/ir/constant.h"
#include "passes/ops/add.h"
#include "passes/ops/constant.h"
#include "passes/ops/greater_equal.h"
#include "passes/ops/mul.h"
#include "passes/ops/where.h"

namespace burin {

mlir::Value sum(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y) {
  // Adjoints make ops that add into something with zeros to start from, the only constant there.
  auto adds = y.getDefiningOp<AddsInto>();
  if (!adds || !y.use_empty() || !isConstant(adds->getOperand(adds.startOperand())))
    return AddOp::create(b, loc, x, y);
  adds->moveBefore(b.getInsertionBlock(), b.getInsertionPoint()); // x may have been made after it
  adds->setOperand(adds.startOperand(), x);
  return y;
}

mlir::Value zeros(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type) {
  return ConstantOp::create(b, loc, type, llvm::APFloat(0.0));
}

mlir::Value isZero(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x) {
  mlir::Value zero = zeros(b, loc, x.getType());
  return MulOp::create(b, loc, GreaterEqualOp::create(b, loc, x, zero), GreaterEqualOp::create(b, loc, zero, x));
}

mlir::Value choose(mlir::OpBuilder &b, mlir::Location loc, mlir::Value condition, mlir::Value x, mlir::Value y) {
  return WhereOp::create(b, loc, condition, x, y);
}

} // namespace burin
