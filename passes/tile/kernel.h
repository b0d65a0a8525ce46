// What the writers of kernels share: a group's body seen from the memory it works on.
#pragma once

#include <functional>

#include "llvm/ADT/MapVector.h"

#include "passes/ir/burin.h"
#include "passes/tile/builder.h"

namespace burin {

// The work of a launch: how many cells, and what one cell does (written at the tile builder's place).
struct Work {
  int64_t cells;
  std::function<void(mlir::Value cell)> cell;
};

// The number of the input that the op of a group adds into, where the result has been given its place; else -1.
int liesInPlaceOf(GroupOp group);

// A group's body with its borders resolved: which values are read from memory, and where; which are written, and where.
struct GroupBody {
  // memory: the kernel's flat arguments, inputs first.
  GroupBody(GroupOp group, mlir::ValueRange memory);

  mlir::StringRef kind;
  mlir::Location loc;
  llvm::SmallVector<mlir::Operation *> ops;     // without views and constants, in order
  llvm::DenseMap<mlir::Value, Stored> read;     // arguments and views of them
  llvm::MapVector<mlir::Value, Stored> written; // values of `ops` that the group yields

  // The same with some of the ops, and of what is written their results.
  GroupBody only(llvm::function_ref<bool(mlir::Operation *)> isIncluded) const;
};

// Dispatches on the group's kind.
llvm::FailureOr<Work> workOf(const GroupBody &body, TileBuilder &t);

Work rowsWork(const GroupBody &body, TileBuilder &t);
Work contractionWork(const GroupBody &body, TileBuilder &t);
Work columnsWork(const GroupBody &body, TileBuilder &t);
Work packWork(const GroupBody &body, TileBuilder &t);
Work selfWork(const GroupBody &body, TileBuilder &t);

// ---- iteration spaces

// Strides of a tensor over an iteration space, aligned at the last dimension; 0 where the tensor is repeated.
llvm::SmallVector<int64_t> stridesOver(const Strided &where, llvm::ArrayRef<int64_t> space);

// Merges neighbouring dimensions before `end` that every stride list sees as one, and drops those of size 1. Each list
// has as many strides as there are sizes; at least one dimension is left before `end`, which is returned as it is
// afterwards. With `keepLast` the last of them stays even where its size is 1.
int64_t collapse(llvm::SmallVectorImpl<int64_t> &sizes, llvm::MutableArrayRef<llvm::SmallVector<int64_t> *> strides,
                 int64_t end, bool keepLast = false);

// Splits a cell's number into one index for each size, last fastest.
llvm::SmallVector<mlir::Value> delinearise(TileBuilder &t, mlir::Value number, llvm::ArrayRef<int64_t> sizes);

// A value in memory, seen over a kernel's iteration space.
struct Field {
  mlir::Value value;
  Stored stored;
  llvm::SmallVector<int64_t> strides;
};

// The (rows, columns) tile of a field at `start` (one index per dimension, the last two its first row and column). An
// input is indexed by the loops along which it changes; an output by both, or by rows alone where it has one element a
// row.
Access inputTile(TileBuilder &t, const Stored &stored, llvm::ArrayRef<int64_t> strides,
                 llvm::ArrayRef<mlir::Value> start, int64_t rows, int64_t columns);
Access outputTile(TileBuilder &t, mlir::Value value, const Stored &stored, llvm::ArrayRef<int64_t> strides,
                  llvm::ArrayRef<mlir::Value> start, int64_t rows, int64_t columns);

// A value as a tile of (rows, columns): its memref and which of the two loops index it.
using TileOf = llvm::DenseMap<mlir::Value, Access>;

// What the element-wise ops and reductions of a body read from memory and what the body writes there.
struct Fields {
  Fields(const GroupBody &body, llvm::ArrayRef<int64_t> space);

  std::vector<Field> read, written;

  // For `collapse`.
  llvm::SmallVector<llvm::SmallVector<int64_t> *> strides();
  // Adds each field's tile at `start` to `inputs` or `outputs`.
  void tiles(TileBuilder &t, llvm::ArrayRef<mlir::Value> start, int64_t rows, int64_t columns, TileOf &inputs,
             TileOf &outputs) const;
};

// ---- rows

// Writes the element-wise ops and row reductions of a body over one tile. `inputs` has a tile for everything that is
// not computed here (memory, products); `outputs` one for each value that goes to memory. `firstColumn` is the index of
// the tile's first column in the whole row.
void writeRows(TileBuilder &t, const GroupBody &body, int64_t rows, int64_t columns, mlir::Value firstColumn,
               const TileOf &inputs, const TileOf &outputs);

} // namespace burin
