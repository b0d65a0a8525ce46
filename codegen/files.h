// Files as the compiler's programs write them: dumps that can be read back, and whole or not at all.
#pragma once

#include <string>

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

namespace burin {

// Writes beside `path` and renames, so that no half-written file is ever taken for a whole one. "-" is stdout.
bool writeFile(llvm::StringRef path, llvm::StringRef bytes, std::string &error);

// The module as text with all locations; parsing it gives the same module.
std::string moduleText(mlir::ModuleOp module);

// The stage that a module has passed is written on it (burin.stage), so that a dump says where to go on.
void markStage(mlir::ModuleOp module, llvm::StringRef stage);
// Empty where nothing is written.
std::string markedStage(mlir::ModuleOp module);

} // namespace burin
