// Constants are element-wise ops of nothing. They belong to no group: whoever reads one computes it.
#pragma once

#include "passes/ir/burin.h"

namespace burin {

inline bool isConstant(mlir::Operation *op) { return op && op->getNumOperands() == 0 && mlir::isa<Elementwise>(op); }
inline bool isConstant(mlir::Value value) { return isConstant(value.getDefiningOp()); }

} // namespace burin
