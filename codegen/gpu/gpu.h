// Kernels in tile form become LLVM functions for the threads of a GPU's blocks. Names no model op.
//
//   burin::buildGpuPipeline(passes);                       // tile form -> native
//   burin::emitModules(native, target, modules, error);    // module.h: native -> PTX
#pragma once

#include <memory>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace burin {

#define GEN_PASS_DECL
#include "codegen/gpu/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "codegen/gpu/passes.h.inc"

// Everything from tile form to the native stage; entries pass through untouched.
void buildGpuPipeline(mlir::OpPassManager &passes);

} // namespace burin
