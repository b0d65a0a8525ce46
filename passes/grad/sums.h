// The arithmetic that differentiation itself adds between adjoints. The one place of grad/ that makes ops by name;
// nothing here or elsewhere in grad/ matches them.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace burin {

// x + y, of one type. Where y is new and adds something to zeros, it adds that to x instead.
mlir::Value sum(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y);

mlir::Value zeros(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type);

// An i32 scalar: 1 where the f32 scalar `x` is 0, else 0.
mlir::Value isZero(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

// condition != 0 ? x : y, the condition a scalar. The one not chosen has no influence, not even as NaN.
mlir::Value choose(mlir::OpBuilder &b, mlir::Location loc, mlir::Value condition, mlir::Value x, mlir::Value y);

} // namespace burin
