// Every pass of passes/ by name: create...() and registerBurinPasses().
#pragma once

#include <memory>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace burin {

#define GEN_PASS_DECL
#include "passes/passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/passes.h.inc"

} // namespace burin
