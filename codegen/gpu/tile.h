// What the lowerings share: where the elements of a tile lie, and arithmetic, loads and stores as LLVM's dialect has
// them. A block is `threads` threads that all walk through the same loops over tiles; each does its part of every tile.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "passes/ir/burin.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace burin::gpu {

// Threads of a block, and of the groups of them that exchange values without memory.
inline constexpr int64_t threads = 128, lanesOfWarp = 32;

// LLVM's numbers of the memories: device memory, and the memory that a block shares.
inline constexpr unsigned globalSpace = 1, sharedSpace = 3;

// The architecture whose warpgroups multiply (specialise.cpp). What is written for it runs on no other.
inline constexpr llvm::StringLiteral warpgroupArchitecture = "sm_90a";

// The module's one array of shared memory: staging first, then scratch. Its size is the launch's.
inline constexpr llvm::StringLiteral sharedName = "burin_shared";

// Element (i, j, ...) of a tile is base[i * strides[0] + j * strides[1] + ...].
struct Tile {
  mlir::Value base; // a pointer, the same for all threads
  llvm::SmallVector<int64_t> sizes, strides;
  mlir::Type element;
  int64_t alignment = 1; // bytes that the base's address is a multiple of
  bool shared = false;

  int64_t elementBytes() const { return element.getIntOrFloatBitWidth() / 8; }
  // Elements from the first to the last, both included.
  int64_t span() const;
};

// Sees through views down to the pointer under them (see enter_kernels.cpp). Null `base` after an error on the op that
// defines the tile.
Tile resolveTile(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memref);

// The memory under a tile: the cast from a pointer that enter_kernels.cpp made. Null where there is none.
mlir::Operation *memoryOf(mlir::Value memref);

// A number that divides the index, whatever its value at run time; 0 for the constant 0.
int64_t divisorOf(mlir::Value index);

bool isKernel(mlir::func::FuncOp function);

// On the form of a kernel that one architecture has for itself (specialise.cpp): the name that launches call it by.
inline constexpr llvm::StringLiteral variantOfName = "burin.variant_of";
// What launches call a kernel.
llvm::StringRef launchedName(mlir::Operation *kernel);

// Bytes of shared memory that an op needs for itself while it runs.
int64_t stagingBytes(mlir::Operation *op);
int64_t contractStagingBytes(ContractOp op); // lower_contract.cpp

// Emits at one place, constants folded. Numbers within a tile are i32, or i64 where a tile is too large for that.
struct Emitter {
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type number = {}; // null: i32

  mlir::Type numberType() const;
  mlir::Value constant(int64_t value) const;
  mlir::Value add(mlir::Value x, mlir::Value y) const;
  mlir::Value add(mlir::Value x, int64_t y) const;
  mlir::Value sub(mlir::Value x, mlir::Value y) const;
  mlir::Value mul(mlir::Value x, int64_t factor) const;
  mlir::Value div(mlir::Value x, int64_t by) const; // of numbers that are not negative
  mlir::Value rem(mlir::Value x, int64_t by) const;
  mlir::Value min(mlir::Value x, int64_t y) const; // of numbers that are not negative
  mlir::Value less(mlir::Value x, int64_t y) const;
  mlir::Value less(mlir::Value x, mlir::Value y) const;
  mlir::Value both(mlir::Value x, mlir::Value y) const; // either may be null: no condition
  mlir::Value zeroOf(mlir::Type type, double value = 0) const;

  mlir::Value thread() const; // the number of this thread in its block
  mlir::Value at(mlir::Value pointer, mlir::Type element, mlir::Value index) const;
  mlir::Value at(mlir::Value pointer, mlir::Type element, int64_t index) const;
  mlir::Value load(mlir::Type type, mlir::Value pointer, int64_t alignment = 0) const;
  void store(mlir::Value value, mlir::Value pointer, int64_t alignment = 0) const;
  // Neighbours in memory: one access where the address is a multiple of their bytes, else one each.
  llvm::SmallVector<mlir::Value> loadRun(mlir::Type element, mlir::Value pointer, int64_t count,
                                         int64_t alignment) const;
  void storeRun(mlir::ValueRange values, mlir::Value pointer, int64_t alignment) const;
  // The staging part of shared memory.
  mlir::Value staging() const;
  void barrier() const;
  // What the lane whose number differs in `bit` has; all lanes of the warp take part.
  mlir::Value fromLane(mlir::Value value, int64_t bit) const;

  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value i, mlir::ValueRange carried)>;
  // for (i = from; i < to; i += step) with carried values.
  llvm::SmallVector<mlir::Value> loop(mlir::Value from, mlir::Value to, int64_t step, mlir::ValueRange carried,
                                      Body body) const;
  // The same with constant bounds; a loop of one turn is written without a loop.
  llvm::SmallVector<mlir::Value> loop(int64_t from, int64_t to, int64_t step, mlir::ValueRange carried,
                                      Body body) const;
  // Has LLVM leave a loop as it is: one whose body is long enough, and whose registers are all taken. `results`: the
  // loop's.
  void keepRolled(mlir::ValueRange results) const;
  // if (condition) body, else the values of `otherwise`; a null condition is true.
  llvm::SmallVector<mlir::Value> when(mlir::Value condition, mlir::ValueRange otherwise,
                                      llvm::function_ref<llvm::SmallVector<mlir::Value>()> body) const;
  void when(mlir::Value condition, llvm::function_ref<void()> body) const;
  // body(i) for each i below `count`, shared out: thread t takes t, t + threads, ...
  void shareOut(int64_t count, llvm::function_ref<void(mlir::Value i)> body) const;
  // The digits of a number in mixed radix, the last the fastest.
  llvm::SmallVector<mlir::Value> digits(mlir::Value number, llvm::ArrayRef<int64_t> extents) const;
};

} // namespace burin::gpu
