// The native stage becomes machine code: MLIR's LLVM dialect to an llvm::Module, and that to the bytes of an object
// file.
#pragma once

#include <memory>
#include <string>

#include "mlir/IR/BuiltinOps.h"
#include "passes/ir/burin.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"

namespace burin {

// The kernels of a module in the native stage as functions of an llvm::Module; entries are left out. Null after an
// error on `native`.
std::unique_ptr<llvm::Module> translateToLlvm(mlir::ModuleOp native, llvm::LLVMContext &context);

// Position-independent ELF for the target's CPU and features; equal modules give equal bytes. False, with `error` set,
// when LLVM refuses.
bool emitObject(llvm::Module &module, TargetAttr target, llvm::SmallVectorImpl<char> &bytes, std::string &error);

} // namespace burin
