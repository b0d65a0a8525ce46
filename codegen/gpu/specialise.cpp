// What one architecture does in its own way. On sm_90a four warps together multiply bf16 (contract_warpgroup.cpp), if b
// lies row by row; on all others each warp multiplies for itself and wants pairs of b's rows side by side. Panels are
// as large one way as the other and nobody but burin.pack and burin.contract looks into them, so it is settled here for
// each panel in a tensor, and all kernels of one text agree. Panels that a kernel makes for itself in scratch
// (attention's) stay pairs.
#include "codegen/gpu/contract.h"
#include "codegen/gpu/gpu.h"
#include "codegen/gpu/tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace burin {

#define GEN_PASS_DEF_GPUSPECIALISE
#include "codegen/gpu/passes.h.inc"

using namespace mlir;
using namespace gpu;

namespace {

bool isForWarpgroups(Value panels) {
  auto type = cast<MemRefType>(panels.getType());
  return type.getElementType().isBF16() && type.getRank() == 3 && type.getDimSize(2) == 2 * rowColumns &&
         liesInTensor(panels);
}

bool hasWork(func::FuncOp kernel) {
  WalkResult walked = kernel.walk([](Operation *op) {
    auto contract = dyn_cast<ContractOp>(op);
    auto pack = dyn_cast<PackOp>(op);
    const bool found = (contract && isForWarpgroups(contract.getB())) || (pack && isForWarpgroups(pack.getPanels()));
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walked.wasInterrupted();
}

// The more rows are copied at a time, the more is multiplied between two barriers. But a launch has one size of shared
// memory for all texts: more than the other form of the kernel asks for would keep blocks of that one off their
// multiprocessor.
int64_t portionOf(ContractOp contract) {
  constexpr int64_t large = 64, small = 32;
  const int64_t m = contract.getC().getType().getDimSize(0), n = contract.getC().getType().getDimSize(1),
                k = contract.getA().getType().getDimSize(1);
  const int64_t least = std::max(streamBytes(m, n), warpgroupBytes(n, k, small));
  return warpgroupBytes(n, k, large) <= least ? large : small;
}

void mark(func::FuncOp kernel) {
  OpBuilder b(kernel.getContext());
  kernel.walk([&](Operation *op) {
    if (auto contract = dyn_cast<ContractOp>(op); contract && isForWarpgroups(contract.getB())) {
      op->setAttr(byWarpgroupName, b.getI64IntegerAttr(portionOf(contract)));
    } else if (auto pack = dyn_cast<PackOp>(op); pack && isForWarpgroups(pack.getPanels())) {
      op->setAttr(inRowsName, b.getUnitAttr());
    }
  });
}

struct Specialise : impl::GpuSpecialiseBase<Specialise> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = module->getAttrOfType<TargetAttr>("burin.target");
    if (!target)
      return;
    const bool alone = target.getCpu().getValue() == warpgroupArchitecture,
               beside = target.getFeatures().getValue() == warpgroupArchitecture;
    if (!alone && !beside)
      return;
    for (auto kernel : llvm::to_vector(module.getOps<func::FuncOp>())) {
      if (!isKernel(kernel) || !hasWork(kernel))
        continue;
      if (beside) {
        OpBuilder b(kernel);
        b.setInsertionPointAfter(kernel);
        auto variant = cast<func::FuncOp>(b.clone(*kernel));
        variant->setAttr(variantOfName, b.getStringAttr(kernel.getName()));
        variant.setName((kernel.getName() + "_" + warpgroupArchitecture).str());
        kernel = variant;
      }
      mark(kernel);
    }
  }
};

} // namespace
} // namespace burin
