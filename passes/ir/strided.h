// Where the elements of a tensor lie in flat storage. Not a memref type: it is computed with, printed nowhere.
#pragma once

#include <cstdint>

#include "mlir/IR/Value.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/LogicalResult.h"

namespace burin {

// Element (i, j, ...) lies at offset + i * strides[0] + j * strides[1] + ..., counted in elements. A stride of 0
// repeats.
struct Strided {
  llvm::SmallVector<int64_t> sizes, strides;
  int64_t offset = 0;

  friend bool operator==(const Strided &a, const Strided &b) {
    return a.sizes == b.sizes && a.strides == b.strides && a.offset == b.offset;
  }
};

// Stored row by row, without gaps.
Strided rowMajor(llvm::ArrayRef<int64_t> sizes);

// The same elements in the same order under other sizes; fails where no strides say that: (2, 3) transposed is not a
// row of 6.
llvm::FailureOr<Strided> reshaped(const Strided &from, llvm::ArrayRef<int64_t> sizes);

// Dimension i of the result is dimension permutation[i] of `from`.
Strided permuted(const Strided &from, llvm::ArrayRef<int64_t> permutation);

// A tensor whose matrices (its last two dimensions) are columns `i * size` .. `(i + 1) * size` of the matrices of
// another: heads, transposed to the front.
struct Pieces {
  enum : int64_t { one = -1, number = -2 };
  int64_t size;
  // For each dimension before the matrix: the one of the other tensor that it is, `number` for i, or `one` where it has
  // a single element.
  llvm::SmallVector<int64_t> leading;
};

// How `view`, which says where its elements lie in a row-major tensor of sizes `whole`, is pieces of that tensor; fails
// where it is anything else.
llvm::FailureOr<Pieces> piecesOf(const Strided &view, llvm::ArrayRef<int64_t> whole);

// A tensor inside a kernel: the flat buffer argument (memref<Nxf32>) and how the tensor lies in it.
struct Stored {
  mlir::Value base;
  Strided where;
};

} // namespace burin
