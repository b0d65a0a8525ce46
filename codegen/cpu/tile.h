// What the lowerings share: where the elements of a tile lie, and how vectors of them are read, written, transposed and
// reduced.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "passes/ir/burin.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace burin::cpu {

// Element (i, j, ...) of a tile is flat[offset + i * strides[0] + j * strides[1] + ...].
struct Tile {
  mlir::Value flat;   // memref<Nxf32>: an argument of the kernel or a piece of its scratch
  mlir::Value offset; // of type index, in elements
  llvm::SmallVector<int64_t> sizes, strides;
  mlir::Type element;
};

// Sees through views down to the flat buffer. Null `flat` after an error on the op that defines the tile.
Tile resolveTile(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memref);

// The target of the module around a kernel; null, after an error, where it is missing. Also null for functions that are
// not kernels.
TargetAttr kernelTarget(mlir::func::FuncOp function);

// Whether a * b + c is one instruction. LLVM would call libm's fma element by element where it is not.
bool hasFma(TargetAttr target);

// Whether pairs of bf16 are multiplied and added to f32 by one instruction (x86's AVX512_BF16).
bool hasBf16Dot(TargetAttr target);

// Emits at one place, constants folded.
struct Emitter {
  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value index(int64_t value) const;
  mlir::Value add(mlir::Value x, mlir::Value y) const;            // of indices
  mlir::Value add(mlir::Value x, int64_t y) const;                // of indices
  mlir::Value mul(mlir::Value x, int64_t factor) const;           // of indices
  mlir::Value splat(mlir::Type type, double value) const;         // a constant scalar or vector of floats or integers
  mlir::Value broadcast(mlir::Value scalar, int64_t lanes) const; // the scalar itself for one lane
  mlir::Type lanesOf(mlir::Type element, int64_t lanes) const;    // the element type itself for one lane

  // The elements flat[at + i * stride] of lane i for i < active; lanes beyond are zero. Stride 0 gives a scalar.
  mlir::Value load(mlir::Value flat, mlir::Value at, int64_t stride, int64_t lanes, int64_t active) const;
  // Lane i to flat[at + i * stride] for i < active; nothing else is written.
  void store(mlir::Value value, mlir::Value flat, mlir::Value at, int64_t stride, int64_t active) const;
  // value in the first `active` lanes, other beyond.
  mlir::Value firstLanes(int64_t active, mlir::Value value, mlir::Value other) const;

  // Column j of the square that the rows make is result j: lane i of it is lane j of row i. As many rows as lanes: a
  // power of two.
  llvm::SmallVector<mlir::Value> transpose(llvm::ArrayRef<mlir::Value> rows) const;

  using Combine = llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)>;
  // All lanes joined into a scalar, halves onto halves: a fixed order.
  mlir::Value reduce(mlir::Value vector, Combine combine) const;

  // for (i = 0; i < count; i += step) with carried values; a loop of one turn is written without a loop.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value i, mlir::ValueRange carried)>;
  llvm::SmallVector<mlir::Value> loop(int64_t count, int64_t step, mlir::ValueRange carried, Body body) const;
};

} // namespace burin::cpu
