// For ops that tile themselves row by row: a tensor's leading dimensions as one count of rows, cut into cells.
#pragma once

#include "passes/tile/builder.h"

namespace burin {

// Rows of a tensor whose last dimension is the row.
int64_t rowCount(llvm::ArrayRef<int64_t> shape);
// Rows of one cell: about as many as half of the first-level cache holds, so that cells are worth a call and there are
// many of them.
int64_t rowsPerCell(int64_t rowBytes, TargetAttr target);
// body(row) for the rows of one cell.
void forRowsOfCell(TileBuilder &t, mlir::Value cell, int64_t rows, int64_t perCell,
                   llvm::function_ref<void(mlir::Value row)> body);
// The indices of row `row` in the leading dimensions.
llvm::SmallVector<mlir::Value> rowIndices(TileBuilder &t, mlir::Value row, llvm::ArrayRef<int64_t> leading);

} // namespace burin
