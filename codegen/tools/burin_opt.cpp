// burin-opt: reads a module, runs single passes (as mlir-opt does) or continues a dump from the stage it was written
// after.
//
//   burin-opt cs336.2-fused.mlir --to-stage object -o cs336.o     the rest of the way, in a process that knows no model
//   burin-opt in.mlir --burin-fuse-swiglu --split-input-file      one pass, as the tests do
#include <memory>
#include <set>

#include "codegen/compile.h"
#include "codegen/diagnostics.h"
#include "codegen/emit/header.h"
#include "codegen/emit/object.h"
#include "codegen/files.h"
#include "codegen/target/target.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

namespace {

namespace cl = llvm::cl;
using namespace burin;

cl::OptionCategory category("burin: stages");
cl::opt<std::string> fromStage("from-stage",
                               cl::desc("the stage that the input has passed (default: as written on the module)"),
                               cl::value_desc("stage"), cl::cat(category));
cl::opt<std::string> toStage("to-stage",
                             cl::desc("run the stages up to this one; 'object' writes the object and, beside it, the "
                                      "header ('graph' to 'native': see --list-stages)"),
                             cl::value_desc("stage"), cl::cat(category));
cl::list<std::string> without("without", cl::desc("leave out an optimising pass of the stages"), cl::value_desc("pass"),
                              cl::cat(category));
cl::list<std::string> with("with",
                           cl::desc("run a pass of the stages with options: 'burin-fuse-linear-loss{always=true}'"),
                           cl::value_desc("pass"), cl::cat(category));
cl::opt<bool> remarks("remarks", cl::desc("tell what was not fused, and why"), cl::cat(category));
cl::opt<bool> listStages("list-stages", cl::desc("print the stages, what each does and promises"), cl::cat(category));
cl::opt<bool> listCpus("list-cpus", cl::desc("print the names that a target's CPU may have"), cl::cat(category));

int fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

// "out.o" -> "out.h"
std::string headerPath(llvm::StringRef object) {
  object.consume_back(".o");
  return (object + ".h").str();
}

int continueStages(llvm::StringRef input, llvm::StringRef output, const mlir::DialectRegistry &registry) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> buffer = mlir::openInputFile(input, &error);
  if (!buffer)
    return fail(error);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  mlir::OwningOpRef<mlir::ModuleOp> module;
  {
    mlir::SourceMgrDiagnosticHandler handler(*sources, &context);
    module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  }
  if (!module)
    return 1;

  auto target = (*module)->getAttrOfType<TargetAttr>("burin.target");
  if (target)
    if (std::string fault = faultOf(target); !fault.empty())
      return fail(input + ": burin.target: " + fault);
  ModelDiagnostics diagnostics(&context, remarks);
  std::string from = fromStage.empty() ? markedStage(*module) : fromStage;
  if (from.empty())
    return fail("the input does not say which stage it has passed; --from-stage does");
  bool toObject = toStage == "object";
  std::vector<Stage> stages = allStages(target);
  StageOptions options{.startAfter = from,
                       .stopAfter = toObject ? "" : toStage.getValue(),
                       .without = without,
                       .with = with,
                       .onStage = {}};
  options.onStage = [](const Stage &stage, mlir::ModuleOp result) { markStage(result, stage.name); };
  if (failed(runStages(*module, stages, options)))
    return 1;
  if (!toObject)
    return writeFile(output, moduleText(*module), error) ? 0 : fail(error);

  std::optional<ModelTable> tables = readTables(*module);
  llvm::SmallVector<char, 0> object;
  if (!tables || failed(emitModel(*module, object)))
    return 1;
  if (output != "-" && !writeFile(headerPath(output), modelHeader(*tables), error))
    return fail(error);
  return writeFile(output, {object.data(), object.size()}, error) ? 0 : fail(error);
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  registerDialects(registry);
  registerPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, "Burin's passes and stages", registry);
  if (listCpus) {
    llvm::outs() << targetNames();
    return 0;
  }
  if (listStages) {
    for (const Stage &stage : allStages())
      llvm::outs() << stage.name << ": " << stage.sentence << "\n    promise: " << stage.promise << "\n";
    llvm::outs() << "object: write kernels and launch lists as an object with its header\n    promise: one exported "
                    "symbol; the same bytes each time\n";
    return 0;
  }
  if (!toStage.empty())
    return continueStages(input, output, registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
}
