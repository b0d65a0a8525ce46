// From a CPU's name to the facts that shape code for it, and to what a machine must have to run it.
//
//   std::string error;
//   burin::TargetAttr target = burin::targetFor(context, "x86-64-v3", error);
//   if (!target) llvm::errs() << "error: " << error << "\n";
#pragma once

#include <string>

#include "mlir/IR/MLIRContext.h"
#include "passes/ir/burin.h"
#include "llvm/ADT/StringRef.h"

namespace burin {

// cpu: "native" (this machine), a level (x86-64, x86-64-v2, x86-64-v3, x86-64-v4) or any of LLVM's names for an x86-64
// CPU; "nvptx" for GPUs, "nvptx:sm_80" or "nvptx:sm_90a" for code of one architecture alone. Null, with `error` set,
// for a name that is none of these.
TargetAttr targetFor(mlir::MLIRContext &context, llvm::StringRef cpu, std::string &error);

// Whether the kernels run on a GPU.
bool isDevice(TargetAttr target);

// Why no code can be made for a target that was written by hand, in a dump; empty when it can.
std::string faultOf(TargetAttr target);

// What a CPU must have to run code for this target, in the words of /proc/cpuinfo, comma separated and sorted:
// "avx,avx2,fma". Nothing for a GPU, whose modules say what they need.
std::string requiredFeatures(TargetAttr target);

// The names that targetFor takes, one a line.
std::string targetNames();

} // namespace burin
