// The object file: compiled kernels and, as constants, everything that the runtime knows about the model
// (runtime/abi/burin.h).
#pragma once

#include "codegen/gpu/module.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

namespace burin {

// Writes the object of a module of stage `native`. It exports one symbol, `const burin_model NAME_model`; the same
// module gives the same bytes in any process. `modules`: also the texts in it that a device's driver takes. Fails after
// a diagnostic.
llvm::LogicalResult emitModel(mlir::ModuleOp native, llvm::SmallVectorImpl<char> &object,
                              std::vector<DeviceModule> *modules = nullptr);

} // namespace burin
