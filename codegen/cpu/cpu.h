// Kernels in tile form become LLVM functions for a CPU with vector registers. Names no model op.
//
//   burin::buildCpuPipeline(passes);            // tile form -> native
//   burin::translateToLlvm(native, context);    // object.h: native -> llvm::Module -> object
#pragma once

#include <memory>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace burin {

#define GEN_PASS_DECL
#include "codegen/cpu/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "codegen/cpu/passes.h.inc"

// Everything from tile form to the native stage. The module carries `burin.target`; entries pass through untouched.
void buildCpuPipeline(mlir::OpPassManager &passes);

} // namespace burin
