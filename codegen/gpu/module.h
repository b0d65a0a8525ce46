// From the native stage to the text that a device's driver takes.
#pragma once

#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "passes/ir/burin.h"

namespace burin {

struct DeviceModule {
  int64_t computeCapability; // the least that the text needs
  bool isExact;              // only this one runs it
  std::string text;          // PTX
};

// The kernels of a native module as PTX: one text, and a second one where some kernel has a form of its own for an
// architecture that the target names beside the first. False after an error: `error` is set.
bool emitModules(mlir::ModuleOp native, TargetAttr target, std::vector<DeviceModule> &modules, std::string &error);

} // namespace burin
