#include "codegen/gpu/gpu.h"

#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace burin {

using namespace mlir;

void buildGpuPipeline(OpPassManager &passes) {
  passes.addPass(createGpuSpecialise());
  passes.addPass(createGpuEnterKernels());
  OpPassManager &kernels = passes.nest<func::FuncOp>();
  // While every word still says what it reads and writes.
  kernels.addPass(createGpuSynchronise());
  kernels.addPass(createGpuLowerNests());
  kernels.addPass(createGpuLowerContract());
  kernels.addPass(createGpuLowerPack());
  kernels.addPass(createGpuLowerAccesses());
  // The lowerings compute each address and each value that is the same for all threads where it is used.
  kernels.addPass(createCSEPass());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createLoopInvariantCodeMotionPass());
  kernels.addPass(createGpuExpandMath());
  kernels.addPass(createLoopInvariantCodeMotionPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createSCFToControlFlowPass());
  passes.addPass(createGpuToLlvm());
  passes.addPass(createReconcileUnrealizedCastsPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

} // namespace burin
