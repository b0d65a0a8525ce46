// Values seen through views.
#pragma once

#include "mlir/IR/Value.h"
#include "passes/ir/strided.h"

namespace burin {

// The value behind the views of one, and those views.
struct Behind {
  mlir::Value value;
  llvm::SmallVector<mlir::Operation *> views; // first: nearest to `value`
};

Behind lookThrough(mlir::Value value);

// How the last of the views shows pieces of the value, which is stored row by row; fails where it shows anything else.
llvm::FailureOr<Pieces> piecesOf(const Behind &behind);

} // namespace burin
