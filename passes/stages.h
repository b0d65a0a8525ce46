// The stages a model goes through, in order: the table of contents of the compiler. Stage 0 (the graph) is the
// declaration itself; stages after `tiled` belong to the machine and are appended by codegen.
//
//   burin::StageOptions options{.stopAfter = "fused", .without = {"burin-fuse-swiglu"}};
//   if (failed(burin::runStages(module, burin::stages(), options))) ...
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace burin {

// A pass of a stage by its command-line name. An optional one only makes the program better: it can be left out and
// results stay within tolerance.
struct StagePass {
  std::string name;
  bool onEntries = true; // runs on each entry, else on the module
  bool optional = false;
};

struct Stage {
  std::string name;     // "fused"
  std::string sentence; // what it does
  std::string promise;  // what holds at its end
  std::function<void(mlir::OpPassManager &)>
      build; // a machine's stage: adds its passes itself; null where `passes` lists them
  std::function<llvm::LogicalResult(mlir::ModuleOp)>
      check; // verifies the promise, with errors in the module's locations
  std::vector<StagePass> passes = {};
};

// imported, fused, joint, grouped, planned, tiled.
std::vector<Stage> stages();

struct StageOptions {
  std::string startAfter = {};           // skip the stages up to and including this one: a dump is being continued
  std::string stopAfter = {};            // run no stage after this one
  std::vector<std::string> without = {}; // names of optional passes to leave out, e.g. "burin-fuse-attention"
  std::vector<std::string> with =
      {}; // pass options: "burin-fuse-linear-loss{always=true}" replaces the pass's entry in its stage
  // Called when a stage's promise has been checked.
  std::function<void(const Stage &, mlir::ModuleOp)> onStage = {};
};

// Fails with a diagnostic when a pass fails, when a promise is broken ("internal error"), or when an option names no
// stage or pass.
llvm::LogicalResult runStages(mlir::ModuleOp module, const std::vector<Stage> &stages, const StageOptions &options);

} // namespace burin
