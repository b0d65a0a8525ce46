// Why a chain stays as it is, said to the author of the model.
#pragma once

#include "mlir/IR/Operation.h"
#include "passes/ir/bytes.h"
#include "llvm/ADT/Twine.h"

namespace burin {

// A remark at the model's line: "attention not fused: the scores have a second reader; keeps 64 MB". `bytesKept`: what
// stays in memory for it. An entry that only evaluates holds the same chains as the one that trains, so only the latter
// speaks.
void notFused(mlir::Operation *op, llvm::StringRef what, const llvm::Twine &why, int64_t bytesKept);

} // namespace burin
