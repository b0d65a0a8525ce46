// Builds the ops of sums.h.
#include "passes/grad/sums.h"

#include "passes/ops/add.h"
#include "passes/ops/constant.h"
#include "passes/ops/greater_equal.h"
#include "passes/ops/mul.h"
#include "passes/ops/where.h"

namespace burin {

mlir::Value sum(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y) {
  return AddOp::create(b, loc, x, y);
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
