// The whole way from an imported model to its object: the stages that every machine shares (passes/stages.h), then the
// machine's own.
//
//   burin::StageOptions options;
//   if (succeeded(burin::runStages(module, burin::allStages(target), options)))
//     burin::emitModel(module, object);
#pragma once

#include "passes/ir/burin.h"
#include "passes/stages.h"

namespace mlir {
class DialectRegistry;
}

namespace burin {

// passes/stages.h's list and `native`, which the target decides: a CPU's without one. The last stage, the object, is no
// module any more: see emit/object.h.
std::vector<Stage> allStages(TargetAttr target = {});

// Every dialect that a module of any stage may hold, and what translating it to LLVM needs.
void registerDialects(mlir::DialectRegistry &registry);

// Every pass of the compiler by its command-line name.
void registerPasses();

} // namespace burin
