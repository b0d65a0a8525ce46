// What an op's adjoint gets to build with.
#pragma once

#include <functional>

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace burin {

struct AdjointBuilder {
  mlir::OpBuilder &b;
  mlir::Location loc;
  // Whether anybody wants this operand's gradient: it depends on something that is differentiated.
  std::function<bool(mlir::Value)> needs;

  // The result of a new op: make<MulOp>(x, y).
  template <typename Op, typename... Arguments> mlir::Value make(Arguments &&...arguments) {
    return Op::create(b, loc, std::forward<Arguments>(arguments)...)->getResult(0);
  }
};

// Sums a gradient over the dimensions that broadcasting had added or stretched, so that it has `type` again.
mlir::Value sumToType(AdjointBuilder &b, mlir::Value gradient, mlir::Type type);

} // namespace burin
