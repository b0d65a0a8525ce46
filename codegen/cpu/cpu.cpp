#include "codegen/cpu/cpu.h"

#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace burin {

using namespace mlir;

void buildCpuPipeline(OpPassManager &passes) {
  OpPassManager &kernels = passes.nest<func::FuncOp>();
  kernels.addPass(createCpuLowerNests());
  kernels.addPass(createCpuLowerContract());
  kernels.addPass(createCpuLowerPack());
  kernels.addPass(createCpuFlattenAccesses());
  // The lowerings compute each address and each value that is the same for all lanes where it is used.
  kernels.addPass(createCSEPass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createLoopInvariantCodeMotionPass());
  kernels.addPass(createCpuExpandMath());
  kernels.addPass(createLoopInvariantCodeMotionPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createSCFToControlFlowPass());
  passes.addPass(createCpuToLlvm());
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

} // namespace burin
