// Kernels become LLVM functions with the ABI's signature. MLIR's own patterns do the ops; what is ours is to leave
// entries alone and to take each tensor from where the launch says it is.
#include "codegen/cpu/cpu.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "passes/ir/burin.h"

namespace burin {

#define GEN_PASS_DEF_CPUTOLLVM
#include "codegen/cpu/passes.h.inc"

using namespace mlir;

namespace {

struct ToLlvm : impl::CpuToLlvmBase<ToLlvm> {
  // (pointers..., first, last, scratch) -> (buffers, args, first, last, scratch): pointer i is buffers[args[2i]] plus
  // args[2i + 1] bytes.
  static void takeArgumentsFromLaunch(LLVM::LLVMFuncOp kernel) {
    Location loc = kernel.getLoc();
    Block &entry = kernel.getBody().front();
    unsigned tensors = entry.getNumArguments() - 3;
    OpBuilder b(kernel.getContext());
    Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
    Value args = entry.insertArgument(0u, pointer, loc), buffers = entry.insertArgument(0u, pointer, loc);

    b.setInsertionPointToStart(&entry);
    auto number = [&](int64_t i) {
      Value at = LLVM::GEPOp::create(b, loc, pointer, i64, args, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
      return LLVM::LoadOp::create(b, loc, i64, at).getResult();
    };
    for (unsigned i = 0; i < tensors; ++i) {
      Value slot = LLVM::GEPOp::create(b, loc, pointer, pointer, buffers, ArrayRef<LLVM::GEPArg>{number(2 * i)});
      Value base = LLVM::LoadOp::create(b, loc, pointer, slot);
      Value start =
          LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{number(2 * i + 1)});
      entry.getArgument(2 + i).replaceAllUsesWith(start);
    }
    entry.eraseArguments(2, tensors);
    auto types = llvm::to_vector(entry.getArgumentTypes());
    kernel.setFunctionType(LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types));
    kernel.setLinkage(LLVM::Linkage::Internal);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = module.getContext();
    LowerToLLVMOptions options(context);
    options.useBarePtrCallConv = true;
    LLVMTypeConverter converter(context, options);

    RewritePatternSet patterns(context);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    index::populateIndexToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    FrozenRewritePatternSet frozen(std::move(patterns));

    for (func::FuncOp kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!kernel->hasAttr("burin.kernel"))
        continue;
      auto scratch = kernel->getAttrOfType<IntegerAttr>("burin.scratch");
      unsigned arguments = kernel.getNumArguments();
      if (!scratch || arguments < 3) {
        kernel.emitError(
            "internal error: a kernel takes tensors, first, last and scratch of a known size (please report)");
        return signalPassFailure();
      }
      // A bare pointer stands for a memref of known size only.
      Type bytes = MemRefType::get({scratch.getInt()}, IntegerType::get(context, 8));
      kernel.getArgument(arguments - 1).setType(bytes);
      SmallVector<Type> types(kernel.getArgumentTypes());
      types.back() = bytes;
      kernel.setFunctionType(FunctionType::get(context, types, {}));

      LLVMConversionTarget target(*context);
      StringAttr name = kernel.getNameAttr();
      if (failed(applyFullConversion(kernel, target, frozen))) {
        kernel.emitError("internal error: no LLVM for an op of this kernel (please report)");
        return signalPassFailure();
      }
      auto lowered = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
      takeArgumentsFromLaunch(lowered);
    }
  }
};

} // namespace
} // namespace burin
