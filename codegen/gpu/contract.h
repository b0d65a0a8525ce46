// What the lowerings of burin.contract share: its tiles, where columns of b lie, a lane's part of matrix fragments.
#pragma once

#include "codegen/gpu/tile.h"

namespace burin::gpu {

struct Contract {
  Tile c, a, b;
  int64_t m = 0, n = 0, k = 0;
  int64_t width = 0;                        // columns of a panel of b; all of them where b is not packed
  int64_t readable = 0;                     // columns of b that may be read: panels are padded with zeros
  int64_t pair = 1;                         // rows of b that stand together
  int64_t panelStride = 0, depthStride = 0; // of b, in elements
  bool accumulate = false;
  bool streamsB = false; // b lies in a tensor: staging is there for its rows

  // Elements from the start of b to column j of its first row. 0 <= j < readable.
  mlir::Value columnOf(const Emitter &e, mlir::Value j) const;
};

// body(row, column) for each block of so many rows and columns of c.
void forBlocks(const Emitter &e, const Contract &contract, int64_t rows, int64_t columns,
               llvm::function_ref<void(mlir::Value row, mlir::Value column)> body);

// Nothing after an error.
std::optional<Contract> readContract(mlir::OpBuilder &b, ContractOp op);

// Blocks of c in the registers of a thread, exact in f32: sums in order of k, each step one multiply-add.
void contractInF32(const Emitter &e, const Contract &contract);

// 16 rows of a as the matrix instructions take them, of a warp or of one of a warpgroup: lane 4 g + t has the pairs t
// and t + 4 of the rows g and g + 8.
class LeftRows {
public:
  LeftRows(const Emitter &e, const Contract &contract, mlir::Value firstRow);
  // This lane's four pairs of the 16 columns from `depth` on. Of the last ones perhaps fewer pairs are there; the
  // others are zeros.
  llvm::SmallVector<mlir::Value> at(mlir::Value depth, int64_t pairs) const;

private:
  const Emitter &e;
  const Contract &x;
  bool fetches; // by one instruction, from shared memory
  mlir::Value member, fetched, upper, lower;
};
// Adds two neighbouring sums of a lane to c, or writes them. rowInside: null where all rows are; wholeColumns: all
// columns are.
void writePair(const Emitter &e, const Contract &contract, mlir::Value row, mlir::Value rowInside, mlir::Value column,
               bool wholeColumns, std::array<mlir::Value, 2> sums);

// Whether the matrix instructions' pieces fit the panels and rows start at whole pairs.
bool fitsMatrixUnits(const Contract &contract);
// Pieces of c in the registers of a warp, pairs of bf16 multiplied by matrix instructions.
void contractInBf16(const Emitter &e, const Contract &contract);
// Bytes of shared memory through which rows of b stream while they are multiplied; 0 where b is near already.
int64_t streamBytes(int64_t m, int64_t n);

// Panels whose rows a warpgroup reads: of this many columns, and not of pairs but row by row (see specialise.cpp).
inline constexpr int64_t rowColumns = 64;
// Marks on words that a warpgroup works on: on burin.contract with the rows of b that are copied at a time, on
// burin.pack.
inline constexpr llvm::StringLiteral byWarpgroupName = "burin.by_warpgroup", inRowsName = "burin.in_rows";
// Why the contract cannot be done by a warpgroup; empty where it can.
llvm::StringRef whyNotByWarpgroup(const Contract &contract);
// Blocks of 64 x up to 128 of c in the registers of a warpgroup. portion: rows of b that are copied at a time.
void contractByWarpgroup(const Emitter &e, const Contract &contract, int64_t portion);
// Bytes of shared memory through which rows of b go to a warpgroup.
int64_t warpgroupBytes(int64_t n, int64_t k, int64_t portion);
// Whether the memory under a tile is one of the kernel's tensors; before and after the kernel is entered.
bool liesInTensor(mlir::Value memref);

} // namespace burin::gpu
