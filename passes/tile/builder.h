// Writes kernels in tile form: loops (scf), element-wise and reducing work on tiles (linalg.generic on memrefs), and
// the tile words burin.contract and burin.pack. Used by tile/ for groups and by ops that tile themselves. Names no
// machine and no op.
//
//   t.forTiles(rows, 64, [&](Value row, int64_t size) {
//     Value x = t.tile(operands[0], {row, zero}, {size, width});
//     Value y = t.tile(results[0], {row, zero}, {size, width});
//     t.map({x}, {y}, [&](auto &b, Location loc, ValueRange in) { return SmallVector<Value>{arith::MulFOp::create(b,
//     loc, in[0], in[0])}; });
//   });
#pragma once

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "passes/ir/burin.h"
#include "passes/ir/strided.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace burin {

// One memref operand of a loop nest and the loops that index its dimensions: {0, 1} is (r, c) of loops (r, c); {1} a
// row; {} a scalar.
struct Access {
  mlir::Value tile;
  llvm::SmallVector<int64_t> loops;
};

class TileBuilder {
public:
  // scratch: the kernel's memref<?xi8> argument. inBf16: products take operands rounded to bf16.
  TileBuilder(mlir::OpBuilder &builder, mlir::Location loc, TargetAttr target, mlir::Value scratch, bool inBf16);

  mlir::OpBuilder &b;
  mlir::Location loc;
  TargetAttr target;
  const bool inBf16;

  mlir::Value index(int64_t value);               // a constant of type index
  mlir::Value f32(double value);                  // a constant of type f32
  mlir::Value add(mlir::Value x, mlir::Value y);  // of indices; folds constants
  mlir::Value mul(mlir::Value x, int64_t factor); // of indices; folds constants

  // The part of `tensor` that starts at `start` (one index per dimension) as a memref with static sizes and strides. A
  // size of 0 takes one element of that dimension and drops the dimension.
  mlir::Value tile(const Stored &tensor, llvm::ArrayRef<mlir::Value> start, llvm::ArrayRef<int64_t> sizes);

  // The whole of a tile seen with two dimensions swapped, or a part of it; both without moving anything.
  mlir::Value transposed(mlir::Value tile);
  mlir::Value part(mlir::Value tile, llvm::ArrayRef<mlir::Value> start, llvm::ArrayRef<int64_t> sizes);

  // A contiguous tile in the kernel's scratch, 64-byte aligned, distinct from all others of this kernel.
  mlir::Value scratch(llvm::ArrayRef<int64_t> sizes, mlir::Type element);
  // The most bytes of scratch that were in use at one time.
  int64_t scratchBytes() const { return peak; }
  // Scratch taken inside is free again afterwards.
  void withScratch(llvm::function_ref<void()> body);

  // for (start = 0; start < extent; start += step) body(start, min(step, extent - start)), each size a constant: the
  // last, shorter piece is written out separately.
  void forTiles(int64_t extent, int64_t step, llvm::function_ref<void(mlir::Value start, int64_t size)> body);
  // The same up to a run-time limit (an index <= extent, rounded up to whole steps).
  void forTilesUpTo(mlir::Value limit, int64_t extent, int64_t step,
                    llvm::function_ref<void(mlir::Value start, int64_t size)> body);
  // body(start, size) for piece `number` of `extent` cut into pieces of `step`; a shorter last piece is written out
  // separately. Scratch taken inside is free again afterwards.
  void oneTile(mlir::Value number, int64_t extent, int64_t step,
               llvm::function_ref<void(mlir::Value start, int64_t size)> body);
  // A plain counted loop.
  void forEach(mlir::Value from, mlir::Value to, llvm::function_ref<void(mlir::Value i)> body);

  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::Location,
                                                                 mlir::ValueRange inputs, mlir::ValueRange outputs)>;
  // A loop nest over tiles. An output whose `loops` lack a loop is accumulated over it: the body sees its value so far
  // in `outputs`. Loops that no output lacks are parallel. The last loop is the one that machines turn into lanes. What
  // an input of bf16 holds comes as f32, and f32 is rounded on its way to an output of bf16; nothing is accumulated in
  // such.
  void nest(int64_t loops, llvm::ArrayRef<Access> inputs, llvm::ArrayRef<Access> outputs, Body body);
  // Element-wise over tiles of one shape.
  void
  map(llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<mlir::Value> outputs,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)> body);
  void fill(mlir::Value tile, mlir::Value scalar);
  void copy(mlir::Value from, mlir::Value to);

  // `ahead`: a tile that is read soon, or null (burin.contract).
  void contract(mlir::Value c, mlir::Value a, mlir::Value b, bool accumulate, mlir::Value ahead = {});
  void pack(mlir::Value source, mlir::Value panels);
  // A tile rounded to bf16 in scratch, as `contract` takes its left side in bf16: rows padded with zeros to whole
  // pairs.
  mlir::Value inPairs(mlir::Value tile);

private:
  mlir::Value scratchArgument;
  int64_t used = 0, peak = 0;
};

} // namespace burin
