// Kernels become LLVM functions. MLIR's own patterns do the ops; what is ours is to leave entries alone.
#include "codegen/gpu/gpu.h"
#include "codegen/gpu/tile.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace burin {

#define GEN_PASS_DEF_GPUTOLLVM
#include "codegen/gpu/passes.h.inc"

using namespace mlir;

namespace {

struct ToLlvm : impl::GpuToLlvmBase<ToLlvm> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = module.getContext();
    LowerToLLVMOptions options(context);
    LLVMTypeConverter converter(context, options);

    RewritePatternSet patterns(context);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    index::populateIndexToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    FrozenRewritePatternSet frozen(std::move(patterns));

    for (func::FuncOp kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!gpu::isKernel(kernel))
        continue;
      LLVMConversionTarget target(*context);
      target.addLegalDialect<NVVM::NVVMDialect>();
      if (failed(applyFullConversion(kernel, target, frozen))) {
        emitError(module.getLoc()) << "internal error: no LLVM for an op of a kernel (please report)";
        return signalPassFailure();
      }
    }
  }
};

} // namespace
} // namespace burin
