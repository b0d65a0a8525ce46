// One model through all stages. Everything written is written whole: a failed run leaves no object behind that a build
// could take for good.
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
#include "options.h"
#include "passes/import/import.h"
#include "report.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace burin {
namespace {

int fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return 1;
}

// The variant asked for, or null after saying which ones there are.
const Model *findModel(const std::vector<Model> &models, const GeneratorOptions &options) {
  std::string names;
  for (const Model &model : models) {
    if (options.model.empty() ? model.name == options.name || models.size() == 1 : model.name == options.model)
      return &model;
    names += (names.empty() ? "" : ", ") + std::string(model.name);
  }
  if (models.empty())
    fail("the source registers no model: BURIN_MODEL(name, declare, value) does");
  else
    fail(options.model.empty() ? "which model? --model takes one of: " + names
                               : "no model '" + options.model + "': the source has " + names);
  return nullptr;
}

int compile(const Model &model, const GeneratorOptions &options) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  registerPasses();
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  ModelDiagnostics diagnostics(&context, options.remarks);

  std::string error;
  const bool forGpu = !options.target.empty();
  if (forGpu && !llvm::StringRef(options.target).starts_with("nvptx"))
    return fail("unknown target '" + options.target +
                "': expected nvptx, nvptx:sm_80 or nvptx:sm_90a; --cpu names a CPU");
  if (llvm::StringRef(options.cpu).starts_with("nvptx"))
    return fail("unknown CPU '" + options.cpu + "': --target names a GPU");
  TargetAttr target = targetFor(context, options.cpu, error);
  // Where the program is for a GPU, a CPU that is named must still be one.
  if (forGpu && (target || options.cpu == "native"))
    target = targetFor(context, options.target, error);
  if (!target)
    return fail(error);
  std::string name = !options.symbol.empty() ? options.symbol
                     : options.name.empty()  ? std::string(model.name)
                                             : options.name;
  if (std::error_code problem = llvm::sys::fs::create_directories(options.out))
    return fail("cannot create '" + options.out + "': " + problem.message());
  auto file = [&](const llvm::Twine &suffix) {
    llvm::SmallString<128> path(options.out);
    llvm::sys::path::append(path, name + suffix);
    return path.str().str();
  };

  StageReport report;
  auto since = std::chrono::steady_clock::now();
  auto lap = [&] {
    auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(since, now)).count();
  };

  const std::vector<Stage> stages = allStages(target);
  std::vector<std::string> names{"graph"};
  for (const Stage &stage : stages)
    names.push_back(stage.name);
  names.push_back("object");
  if (!options.stopAfter.empty() && !llvm::is_contained(names, options.stopAfter))
    return fail("there is no stage '" + options.stopAfter + "'; the stages are " + llvm::join(names, " "));

  Batch asked{options.batch, options.length};
  Graph graph = model.declare(asked);
  bool graphOnly = options.stopAfter == "graph", toObject = options.stopAfter.empty() || options.stopAfter == "object";
  auto writeGraph = [&] {
    return writeFile(file(".0-graph.txt"), graphText(graph, model.name, asked, options.sourceRoot), error);
  };
  if (graphOnly && !writeGraph())
    return fail(error);
  if (!graphOnly) {
    mlir::OwningOpRef<mlir::ModuleOp> module = importModel(context, {.name = model.name,
                                                                     .declare = model.declare,
                                                                     .batch = asked,
                                                                     .target = target,
                                                                     .revision = BURIN_REVISION,
                                                                     .sourceRoot = options.sourceRoot});
    if (!module)
      return 1;
    (*module)->setAttr("burin.symbol", mlir::StringAttr::get(&context, name));
    if (options.dtype != "f32")
      (*module)->setAttr("burin.dtype", mlir::StringAttr::get(&context, options.dtype));

    int number = 0;
    bool written = true;
    StageOptions staging{.startAfter = {},
                         .stopAfter = toObject ? "" : options.stopAfter,
                         .without = options.without,
                         .with = options.with,
                         .onStage = {}};
    staging.onStage = [&](const Stage &stage, mlir::ModuleOp result) {
      double seconds = lap();
      // With the first stage: what is refused before it leaves nothing behind.
      if (number == 0 && options.stages)
        written = writeGraph();
      ++number;
      markStage(result, stage.name);
      std::string path = file("." + llvm::Twine(number) + "-" + stage.name + ".mlir");
      if (options.stages)
        written = written && writeFile(path, moduleText(result), error);
      report.add(stage.name, options.stages ? llvm::sys::path::filename(path) : "", result, seconds);
      lap(); // writing is not compiling
    };
    if (failed(runStages(*module, stages, staging)))
      return 1;
    if (!written)
      return fail(error);

    if (toObject) {
      std::optional<ModelTable> tables = readTables(*module);
      llvm::SmallVector<char, 0> object;
      std::vector<DeviceModule> texts;
      if (!tables || failed(emitModel(*module, object, &texts)))
        return 1;
      for (const DeviceModule &text : texts)
        if (options.stages && !writeFile(file("." + llvm::Twine(number + 1) + "-object.sm_" +
                                              llvm::Twine(text.computeCapability) + (text.isExact ? "a" : "") + ".ptx"),
                                         text.text, error))
          return fail(error);
      report.addObject(llvm::sys::path::filename(file(".o")), object.size(), lap());
      if (!writeFile(file(".h"), modelHeader(*tables), error) ||
          !writeFile(file(".o"), {object.data(), object.size()}, error))
        return fail(error);
    }
  }
  if (options.table)
    llvm::outs() << report.text(diagnostics.remarks());
  return 0;
}

} // namespace

int generatorMain(int argc, char **argv, const std::vector<Model> &models) {
  GeneratorOptions options;
  std::string error;
  if (!parseOptions(argc, argv, options, error))
    return fail(error);
  if (options.help) {
    llvm::outs() << optionsHelp(llvm::sys::path::filename(argv[0]).str());
    return 0;
  }
  const Model *model = findModel(models, options);
  if (!model)
    return 1;
  if (options.batch < 1 || options.length < 1)
    return fail("--batch and --length must be at least 1; they are " + llvm::Twine(options.batch) + " and " +
                llvm::Twine(options.length));
  if (options.dtype != "f32" && options.dtype != "bf16")
    return fail("--dtype takes f32 or bf16, not '" + options.dtype + "'");
  try {
    return compile(*model, options);
  } catch (const ModelError &problem) {
    llvm::errs() << problem.what() << "\n";
    return 1;
  }
}

} // namespace burin
