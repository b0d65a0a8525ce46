// What the stages of passes/ and of the machines need to be run by name.
#include "codegen/compile.h"

#include "codegen/cpu/cpu.h"
#include "codegen/gpu/gpu.h"
#include "codegen/target/target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "passes/ir/burin.h"
#include "passes/passes.h"

namespace burin {

using namespace mlir;

// Kernels are the LLVM dialect's functions, entries still lists of launches; nothing else is left to lower.
static llvm::LogicalResult checkNative(ModuleOp module) {
  for (Operation &op : *module.getBody()) {
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      if (!function->hasAttr("burin.entry"))
        return function.emitError() << "'" << function.getName() << "' is neither an entry nor lowered to LLVM";
      for (Operation &inner : function.getBody().front().without_terminator())
        if (!isa<LaunchOp>(inner))
          return inner.emitError() << "an entry holds launches alone";
      continue;
    }
    WalkResult walked = op.walk([&](Operation *inner) {
      if (isa<LLVM::LLVMDialect, NVVM::NVVMDialect>(inner->getDialect()))
        return WalkResult::advance();
      inner->emitError("an op outside the LLVM dialect is left in a kernel");
      return WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      return failure();
  }
  return success();
}

std::vector<Stage> allStages(TargetAttr target) {
  std::vector<Stage> list = stages();
  const bool device = target && isDevice(target);
  list.push_back(
      {.name = "native",
       .sentence = device ? "share tile loops out among the threads of blocks, then into the LLVM dialect"
                          : "turn tile loops into this machine's vectors and registers, then into the LLVM dialect",
       .promise = "kernels are LLVM functions; entries hold launches alone",
       .build = [device](OpPassManager &passes) { device ? buildGpuPipeline(passes) : buildCpuPipeline(passes); },
       .check = checkNative,
       .passes = {}});
  return list;
}

void registerDialects(DialectRegistry &registry) {
  registry.insert<BurinDialect, arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, linalg::LinalgDialect,
                  LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect, NVVM::NVVMDialect, scf::SCFDialect,
                  vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

void registerPasses() {
  registerBurinPasses();
  registerCpuPasses();
  registerGpuPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerSymbolDCEPass();
  mlir::registerLoopInvariantCodeMotionPass();
}

} // namespace burin
