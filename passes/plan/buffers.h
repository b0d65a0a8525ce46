// The buffers of a program as the plan names them; the numbers are those of burin_buffer in runtime/abi/burin.h.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/ir/bytes.h"
#include "llvm/ADT/StringRef.h"

namespace burin {

constexpr int64_t arenaBuffer = 4, inputsBuffer = 5, outputsBuffer = 6, buffersCount = 7;

// The buffer of an argument or result by its `burin.role`.
int64_t bufferOf(llvm::StringRef role);

// Verifies a planned entry without trusting how it was made: what each launch reads is what was written for it.
llvm::LogicalResult checkPlan(mlir::func::FuncOp entry);

} // namespace burin
