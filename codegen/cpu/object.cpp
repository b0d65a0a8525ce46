#include "codegen/cpu/object.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

namespace burin {

using namespace mlir;

std::unique_ptr<llvm::Module> translateToLlvm(ModuleOp native, llvm::LLVMContext &context) {
  registerBuiltinDialectTranslation(*native.getContext());
  registerLLVMDialectTranslation(*native.getContext());
  OwningOpRef<ModuleOp> kernels = native.clone();
  for (func::FuncOp entry : llvm::make_early_inc_range(kernels->getOps<func::FuncOp>()))
    entry.erase();
  auto target = native->getAttrOfType<TargetAttr>("burin.target");
  if (!target) {
    native.emitError("internal error: the module has no burin.target (please report)");
    return nullptr;
  }
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(*kernels, context, "burin");
  if (!module)
    return nullptr;
  for (llvm::Function &function : *module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.getCpu().getValue());
    function.addFnAttr("target-features", target.getFeatures().getValue());
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  module->setPICLevel(llvm::PICLevel::BigPIC);
  return module;
}

bool emitObject(llvm::Module &module, TargetAttr target, llvm::SmallVectorImpl<char> &bytes, std::string &error) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();

  llvm::Triple triple("x86_64-unknown-linux-gnu");
  const llvm::Target *x86 = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!x86)
    return false;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict; // multiply-adds are written where they are wanted
  std::unique_ptr<llvm::TargetMachine> machine(
      x86->createTargetMachine(triple, target.getCpu().getValue(), target.getFeatures().getValue(), options,
                               llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine) {
    error = "LLVM has no code generator for " + target.getCpu().str();
    return false;
  }
  module.setTargetTriple(triple);
  module.setDataLayout(machine->createDataLayout());
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    error = "LLVM cannot write object files for " + target.getCpu().str();
    return false;
  }
  passes.run(module);
  return true;
}

} // namespace burin
