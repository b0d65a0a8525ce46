// One model through all stages. Everything written is written whole: a failed run leaves no object behind that a build could take for good.
#include "generator.h"

#include <chrono>
#include <optional>

#include "codegen/compile.h"
#include "codegen/diagnostics.h"
#include "codegen/emit/header.h"
#include "codegen/emit/object.h"
#include "codegen/files.h"
#include "codegen/target/target.h"
#include "graph_text.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "passes/import/import.h"
#include "report.h"

namespace burin {
namespace {

namespace cl = llvm::cl;

// Scalar options may be repeated, the last one counts: a build's command line can be called again with other options behind it.
cl::OptionCategory category("burin");
cl::opt<std::string> modelName("model", cl::desc("the variant to compile, by its name in BURIN_MODEL (default: the one called --name, or the only one)"),
                               cl::value_desc("name"), cl::ZeroOrMore, cl::cat(category));
cl::opt<std::string> symbol("name", cl::desc("what files and the exported symbol are named after (default: the variant's name)"),
                            cl::value_desc("name"), cl::ZeroOrMore, cl::cat(category));
cl::opt<int64_t> batch("batch", cl::desc("sequences that a step takes (needed)"), cl::value_desc("rows"), cl::ZeroOrMore, cl::cat(category));
cl::opt<int64_t> length("length", cl::desc("tokens of a sequence (needed)"), cl::value_desc("tokens"), cl::ZeroOrMore, cl::cat(category));
cl::opt<std::string> cpu("cpu", cl::desc("native, x86-64, x86-64-v2, x86-64-v3, x86-64-v4 or LLVM's name of a CPU (default: native)"),
                         cl::init("native"), cl::value_desc("cpu"), cl::ZeroOrMore, cl::cat(category));
cl::opt<std::string> dtype("dtype", cl::desc("storage of activations; f32 is the only one so far"), cl::init("f32"), cl::value_desc("dtype"),
                           cl::ZeroOrMore, cl::cat(category));
cl::opt<std::string> folder("out", cl::desc("the folder to write to (default: .)"), cl::init("."), cl::value_desc("folder"), cl::ZeroOrMore, cl::cat(category));
cl::opt<std::string> sourceRoot("source-root", cl::desc("places below this folder are written relative to it"), cl::value_desc("folder"),
                                cl::ZeroOrMore, cl::cat(category));
cl::opt<bool> writeStages("stages", cl::desc("also write the IR after every stage"), cl::ZeroOrMore, cl::cat(category));
cl::opt<std::string> stopAfter("to-stage", cl::desc("run no stage after this one and write no object"), cl::value_desc("stage"),
                               cl::ZeroOrMore, cl::cat(category));
cl::list<std::string> without("without", cl::desc("leave out an optimising pass"), cl::value_desc("pass"), cl::ZeroOrMore, cl::cat(category));
cl::list<std::string> with("with", cl::desc("run a pass with options: 'burin-fuse-linear-loss{always=true}'"), cl::value_desc("pass"),
                           cl::ZeroOrMore, cl::cat(category));
cl::opt<bool> printRemarks("remarks", cl::desc("tell on stderr what was not fused, and why"), cl::ZeroOrMore, cl::cat(category));
cl::opt<bool> printTable("table", cl::desc("print a table of the stages"), cl::ZeroOrMore, cl::cat(category));

int fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

// The variant asked for, or null after saying which ones there are.
const Model *findModel(const std::vector<Model> &models) {
  std::string names;
  for (const Model &model : models) {
    if (modelName.empty() ? model.name == symbol || models.size() == 1 : model.name == modelName)
      return &model;
    names += (names.empty() ? "" : ", ") + std::string(model.name);
  }
  if (models.empty())
    fail("the source registers no model: BURIN_MODEL(name, declare, value) does");
  else
    fail(modelName.empty() ? "which model? --model takes one of: " + names : "no model '" + modelName + "': the source has " + names);
  return nullptr;
}

int compile(const Model &model) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  registerPasses();
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  ModelDiagnostics diagnostics(&context, printRemarks);

  std::string error;
  TargetAttr target = targetFor(context, cpu, error);
  if (!target)
    return fail(error);
  std::string name = symbol.empty() ? std::string(model.name) : symbol;
  if (std::error_code problem = llvm::sys::fs::create_directories(folder))
    return fail("cannot create '" + folder + "': " + problem.message());
  auto file = [&](const llvm::Twine &suffix) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name + suffix);
    return path.str().str();
  };

  StageReport report;
  auto since = std::chrono::steady_clock::now();
  auto lap = [&] {
    auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(since, now)).count();
  };

  Batch asked{batch, length};
  Graph graph = model.declare(asked);
  bool graphOnly = stopAfter == "graph";
  if ((writeStages || graphOnly) && !writeFile(file(".0-graph.txt"), graphText(graph, model.name, asked, sourceRoot), error))
    return fail(error);
  if (!graphOnly) {
    mlir::OwningOpRef<mlir::ModuleOp> module = importModel(context, {.name = model.name,
                                                                      .declare = model.declare,
                                                                      .batch = asked,
                                                                      .target = target,
                                                                      .revision = BURIN_REVISION,
                                                                      .sourceRoot = sourceRoot});
    if (!module)
      return 1;
    (*module)->setAttr("burin.symbol", mlir::StringAttr::get(&context, name));

    int number = 0;
    bool written = true;
    StageOptions options{.startAfter = {}, .stopAfter = stopAfter, .without = without, .with = with, .onStage = {}};
    options.onStage = [&](const Stage &stage, mlir::ModuleOp result) {
      double seconds = lap();
      ++number;
      markStage(result, stage.name);
      std::string path = file("." + llvm::Twine(number) + "-" + stage.name + ".mlir");
      if (writeStages)
        written = written && writeFile(path, moduleText(result), error);
      report.add(stage.name, writeStages ? llvm::sys::path::filename(path) : "", result, seconds);
      lap(); // writing is not compiling
    };
    if (failed(runStages(*module, allStages(), options)))
      return 1;
    if (!written)
      return fail(error);

    if (stopAfter.empty()) {
      std::optional<ModelTable> tables = readTables(*module);
      llvm::SmallVector<char, 0> object;
      if (!tables || failed(emitModel(*module, object)))
        return 1;
      report.addObject(llvm::sys::path::filename(file(".o")), object.size(), lap());
      if (!writeFile(file(".h"), modelHeader(*tables), error) || !writeFile(file(".o"), {object.data(), object.size()}, error))
        return fail(error);
    }
  }
  if (printTable)
    llvm::outs() << report.text(diagnostics.remarks());
  return 0;
}

} // namespace

int generatorMain(int argc, char **argv, const std::vector<Model> &models) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "compiles a model declared in C++ to an object and its header\n");
  const Model *model = findModel(models);
  if (!model)
    return 1;
  if (batch < 1 || length < 1)
    return fail("--batch and --length must be at least 1; they are " + llvm::Twine(batch) + " and " + llvm::Twine(length));
  if (dtype != "f32")
    return fail("--dtype " + dtype + " is not supported yet: activations are stored in f32");
  try {
    return compile(*model);
  } catch (const ModelError &error) {
    llvm::errs() << error.what() << "\n";
    return 1;
  }
}

} // namespace burin
