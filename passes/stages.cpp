// The one list of stages and passes.
#include "passes/stages.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/ir/burin.h"
#include "passes/passes.h"
#include "passes/plan/buffers.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace burin {

namespace {

LogicalResult forEachEntry(ModuleOp module, llvm::function_ref<LogicalResult(func::FuncOp)> check) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr("burin.entry") && failed(check(function)))
      return failure();
  return success();
}

InFlightDiagnostic broken(Operation *op) { return op->emitError("internal error (please report): "); }

// Only model ops, each of static shape, each with its place in the model.
LogicalResult checkNamed(ModuleOp module) {
  return forEachEntry(module, [](func::FuncOp entry) -> LogicalResult {
    for (Operation &op : entry.getBody().front().without_terminator()) {
      if (op.getDialect() != entry->getContext()->getLoadedDialect("burin") || isa<GroupOp, LaunchOp>(op))
        return broken(&op) << "'" << op.getName() << "' is no model op";
      // What grad/ adds for the entry itself (scaling, accumulating) has the entry's place.
      if (isa<UnknownLoc>(op.getLoc()) && op.getLoc() != entry.getLoc())
        return broken(&op) << "has no place in the model";
    }
    return success();
  });
}

LogicalResult checkJoint(ModuleOp module) {
  if (failed(checkNamed(module)))
    return failure();
  return forEachEntry(module, [](func::FuncOp entry) -> LogicalResult {
    if (entry->hasAttr("burin.differentiate"))
      return broken(entry) << "has not been differentiated";
    return success();
  });
}

LogicalResult checkGrouped(ModuleOp module) {
  return forEachEntry(module, [](func::FuncOp entry) -> LogicalResult {
    for (Operation &op : entry.getBody().front().without_terminator())
      if (!isa<GroupOp>(op))
        return broken(&op) << "'" << op.getName() << "' stands outside a group";
    return success();
  });
}

LogicalResult checkPlanned(ModuleOp module) {
  if (failed(checkGrouped(module)))
    return failure();
  return forEachEntry(module, checkPlan);
}

// Entries are lists of launches; kernels hold tile words and no model op.
LogicalResult checkTiled(ModuleOp module) {
  auto result = module.walk([&](Operation *op) {
    auto function = op->getParentOfType<func::FuncOp>();
    if (!function)
      return WalkResult::advance();
    if (function->hasAttr("burin.entry") && !isa<LaunchOp, func::ReturnOp>(op)) {
      broken(op) << "'" << op->getName() << "' stands among launches";
      return WalkResult::interrupt();
    }
    if (auto launch = dyn_cast<LaunchOp>(op); launch && !module.lookupSymbol(launch.getKernel())) {
      broken(op) << "launches a kernel that does not exist";
      return WalkResult::interrupt();
    }
    bool word = isa<ContractOp, PackOp, SwapLanesOp, LaunchOp>(op);
    if (op->getName().getDialectNamespace() == "burin" && !word) {
      broken(op) << "'" << op->getName() << "' is left after tiling";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return success(!result.wasInterrupted());
}

} // namespace

std::vector<Stage> stages() {
  return {
      {.name = "imported",
       .sentence = "the declaration as ops of the dialect",
       .promise = "only model ops and functions; every op carries its place in the model",
       .build = {},
       .check = checkNamed,
       .passes = {}},

      // Fused before the backward graph is derived, so that fused ops bring adjoints of their own and no backward chain
      // is ever matched.
      {.name = "fused",
       .sentence = "chains with an adjoint of their own are named: attention, SwiGLU, linear and loss",
       .promise = "still only model ops; equal results with any of the passes left out",
       .build = {},
       .check = checkNamed,
       .passes = {{.name = "cse"},
                  {.name = "burin-fuse-attention", .optional = true},
                  {.name = "burin-fuse-swiglu", .optional = true},
                  {.name = "burin-fuse-linear-loss", .optional = true},
                  {.name = "canonicalize"}}},

      {.name = "joint",
       .sentence = "forward and backward in one function",
       .promise = "no entry is left to differentiate; values kept for the backward part are plain operands",
       .build = {},
       .check = checkJoint,
       // Recomputation looks at what lives from forward to backward, so duplicates go first; the second clean-up must
       // not undo it: copies are marked.
       .passes = {{.name = "burin-differentiate"},
                  {.name = "canonicalize"},
                  {.name = "cse"},
                  {.name = "burin-recompute", .optional = true}}},

      // From here on what stands between groups is memory.
      {.name = "grouped",
       .sentence = "ops that one launch computes stand together",
       .promise = "entries hold only groups; every tensor between them is stored row by row",
       .build = {},
       .check = checkGrouped,
       // Once more: what a norm or a gated layer hands on is element-wise only now that it is spelt out.
       .passes = {{.name = "burin-expand"},
                  {.name = "canonicalize"},
                  {.name = "cse"},
                  {.name = "burin-recompute", .optional = true},
                  {.name = "cse"},
                  {.name = "burin-group"}}},

      // From here on every tensor has an offset; no new tensors.
      {.name = "planned",
       .sentence = "every tensor has a buffer and an offset",
       .promise = "what a launch reads is what was written for it; the arena's peak is recorded",
       .build = {},
       .check = checkPlanned,
       .passes = {{.name = "burin-plan"}}},

      {.name = "tiled",
       .sentence = "each distinct kernel as loops over tiles, each entry as a list of launches",
       .promise = "no model op is left; each distinct kernel exists once",
       .build = {},
       .check = checkTiled,
       .passes = {{.name = "burin-tile", .onEntries = false}}},
  };
}

namespace {

// The name of "pass{options}".
StringRef nameOf(StringRef pass) {
  return pass.take_until([](char c) { return c == '{'; });
}

LogicalResult checkOptions(ModuleOp module, const std::vector<Stage> &stages, const StageOptions &options) {
  // Counted from 1; before the first stage comes nothing.
  auto placeOf = [&](const std::string &name) {
    return name.empty()
               ? 0
               : llvm::find_if(stages, [&](const Stage &stage) { return stage.name == name; }) - stages.begin() + 1;
  };
  for (const std::string &name : {options.startAfter, options.stopAfter})
    if (placeOf(name) > static_cast<std::ptrdiff_t>(stages.size())) {
      std::string names;
      for (const Stage &stage : stages)
        names += " " + stage.name;
      return emitError(UnknownLoc::get(module.getContext()))
             << "there is no stage '" << name << "'; the stages are" << names;
    }
  if (!options.stopAfter.empty() && placeOf(options.stopAfter) <= placeOf(options.startAfter))
    return emitError(UnknownLoc::get(module.getContext())) << "the module has passed stage '" << options.startAfter
                                                           << "' and cannot go back to '" << options.stopAfter << "'";
  auto check = [&](StringRef name, bool mustBeOptional) -> LogicalResult {
    for (const Stage &stage : stages)
      for (const StagePass &pass : stage.passes)
        if (pass.name == name) {
          if (mustBeOptional && !pass.optional)
            return emitError(UnknownLoc::get(module.getContext())) << "pass '" << name << "' cannot be left out";
          return success();
        }
    return emitError(UnknownLoc::get(module.getContext())) << "no stage runs a pass '" << name << "'";
  };
  for (const std::string &name : options.without)
    if (failed(check(name, true)))
      return failure();
  for (const std::string &pass : options.with)
    if (failed(check(nameOf(pass), false)))
      return failure();
  return success();
}

} // namespace

// Passes are found by name, so that a stage reads as a list. Registering one again changes nothing.
static void registerStagePasses() {
  static const bool once = [] {
    registerBurinPasses();
    registerCanonicalizerPass();
    registerCSEPass();
    return true;
  }();
  (void)once;
}

LogicalResult runStages(ModuleOp module, const std::vector<Stage> &stages, const StageOptions &options) {
  registerStagePasses();
  if (failed(checkOptions(module, stages, options)))
    return failure();
  bool started = options.startAfter.empty();
  for (const Stage &stage : stages) {
    if (!started) {
      started = stage.name == options.startAfter;
      continue;
    }
    PassManager manager(module.getContext(), ModuleOp::getOperationName());
    if (stage.build)
      stage.build(manager);
    for (const StagePass &pass : stage.passes) {
      if (llvm::is_contained(options.without, pass.name))
        continue;
      std::string text = pass.name;
      for (const std::string &with : options.with)
        if (nameOf(with) == pass.name)
          text = with;
      std::string errors;
      llvm::raw_string_ostream stream(errors);
      OpPassManager &where = pass.onEntries ? manager.nest<func::FuncOp>() : static_cast<OpPassManager &>(manager);
      if (failed(parsePassPipeline(text, where, stream)))
        return emitError(UnknownLoc::get(module.getContext())) << "pass '" << text << "': " << errors;
    }
    if (failed(manager.run(module)) || failed(verify(module)) || failed(stage.check(module)))
      return failure();
    if (options.onStage)
      options.onStage(stage, module);
    if (stage.name == options.stopAfter)
      break;
  }
  return success();
}

} // namespace burin
