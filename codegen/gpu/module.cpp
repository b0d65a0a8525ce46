#include "codegen/gpu/module.h"

#include "codegen/gpu/tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace burin {

using namespace mlir;

// The kernels as `architecture` has them: where one has a form of its own for sm_90a, it is that or the other.
static std::unique_ptr<llvm::Module> translate(ModuleOp native, StringRef architecture, llvm::LLVMContext &context) {
  MLIRContext &from = *native.getContext();
  registerBuiltinDialectTranslation(from);
  registerLLVMDialectTranslation(from);
  registerNVVMDialectTranslation(from);
  OwningOpRef<ModuleOp> kernels = native.clone();
  llvm::StringMap<int64_t> threads;
  SmallVector<LLVM::LLVMFuncOp> variants;
  for (auto function : kernels->getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(gpu::variantOfName))
      variants.push_back(function);
  for (LLVM::LLVMFuncOp variant : variants) {
    if (architecture != gpu::warpgroupArchitecture) {
      variant.erase();
      continue;
    }
    kernels->lookupSymbol(gpu::launchedName(variant))->erase();
    variant.setSymName(gpu::launchedName(variant));
  }
  for (Operation &op : llvm::make_early_inc_range(*kernels->getBody())) {
    if (isa<func::FuncOp>(op))
      op.erase(); // an entry
    else if (auto function = dyn_cast<LLVM::LLVMFuncOp>(op); function && op.hasAttr("burin.threads"))
      threads[function.getName()] = op.getAttrOfType<IntegerAttr>("burin.threads").getInt();
  }
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(*kernels, context, "burin");
  if (!module)
    return nullptr;
  for (llvm::Function &function : *module) {
    if (function.isDeclaration())
      continue;
    function.setCallingConv(llvm::CallingConv::PTX_Kernel);
    function.setLinkage(llvm::GlobalValue::ExternalLinkage);
    function.addFnAttr("nvvm.maxntid", std::to_string(threads.lookup(function.getName())));
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr(llvm::Attribute::WillReturn);
    // Buffers are aligned by the runtime, tensors in them by passes/plan.
    for (llvm::Argument &argument : function.args())
      if (argument.getType()->isPointerTy())
        argument.addAttr(llvm::Attribute::getWithAlignment(context, llvm::Align(64)));
    // Instructions of a warpgroup stand as text: all its threads must come to it together.
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->isInlineAsm())
        call->setConvergent();
  }
  // The swizzle of what warpgroups read repeats every 1024 bytes of the address.
  if (auto *shared = module->getNamedGlobal(gpu::sharedName); shared && architecture == gpu::warpgroupArchitecture)
    shared->setAlignment(llvm::Align(1024));
  return module;
}

// Accesses of several elements are written by the lowerings. LLVM's own pass for them also fills gaps, and what it
// reads there may be another thread's or nobody's.
static bool keepAccessesAsWritten() {
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find("disable-nvptx-load-store-vectorizer");
  if (found == options.end())
    return false;
  static_cast<llvm::cl::opt<bool> *>(found->second)->setValue(true);
  return true;
}

static bool emitText(ModuleOp native, const std::string &cpu, std::vector<DeviceModule> &modules, std::string &error) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translate(native, cpu, context);
  if (!module) {
    error = "the native module has no LLVM form";
    return false;
  }
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *nvptx = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!nvptx)
    return false;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict; // multiply-adds are written where they are wanted
  // The oldest text that the architecture and its instructions ask for: drivers of its time take it.
  const char *version = cpu == "sm_80" ? "+ptx71" : "+ptx80";
  std::unique_ptr<llvm::TargetMachine> machine(nvptx->createTargetMachine(
      triple, cpu, version, options, std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine) {
    error = "LLVM has no code generator for " + cpu;
    return false;
  }
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  llvm::raw_string_ostream problem(error);
  if (llvm::verifyModule(*module, &problem))
    return false;

  // Loops are unrolled and addresses simplified here; the code generator only selects instructions.
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager all;
  llvm::PassBuilder builder(machine.get());
  builder.registerModuleAnalyses(all);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, all);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(*module, all);

  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    error = "LLVM cannot write PTX for " + cpu;
    return false;
  }
  passes.run(*module);
  modules.push_back({.computeCapability = std::stoll(cpu.substr(3)),
                     .isExact = cpu.back() == 'a',
                     .text = std::string(text.begin(), text.end())});
  return true;
}

bool emitModules(ModuleOp native, TargetAttr target, std::vector<DeviceModule> &modules, std::string &error) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();

  if (!keepAccessesAsWritten()) {
    error = "LLVM's NVPTX backend has no switch for its load/store vectorizer";
    return false;
  }
  if (!emitText(native, target.getCpu().str(), modules, error))
    return false;
  // Beside it, where some kernel differs; else the first serves all.
  const bool differs = llvm::any_of(native.getOps<LLVM::LLVMFuncOp>(),
                                    [](Operation *function) { return function->hasAttr(gpu::variantOfName); });
  return !differs || emitText(native, gpu::warpgroupArchitecture.str(), modules, error);
}

} // namespace burin
