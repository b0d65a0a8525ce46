// What the two lowerings of burin.contract share: its tiles, and where columns of b lie.
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

// Nothing after an error.
std::optional<Contract> readContract(mlir::OpBuilder &b, ContractOp op);

// Blocks of c in the registers of a thread, exact in f32: sums in order of k, each step one multiply-add.
void contractInF32(const Emitter &e, const Contract &contract);

// Whether the matrix instructions' pieces fit the panels and rows start at whole pairs.
bool fitsMatrixUnits(const Contract &contract);
// Pieces of c in the registers of a warp, pairs of bf16 multiplied by matrix instructions.
void contractInBf16(const Emitter &e, const Contract &contract);
// Bytes of shared memory through which rows of b stream while they are multiplied; 0 where b is near already.
int64_t streamBytes(int64_t m, int64_t n);

} // namespace burin::gpu
