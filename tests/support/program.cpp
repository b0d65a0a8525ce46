// The pipeline, the loader and the launch loop of program.h.
#include "tests/support/program.h"

#include <dlfcn.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "codegen/compile.h"
#include "codegen/emit/object.h"
#include "codegen/target/target.h"
#include "mlir/IR/Diagnostics.h"
#include "tests/support/gradient.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

namespace burin::test {

namespace {

// Memory of one buffer between two guards. Everything starts as NaN, so that reading what nobody wrote shows.
class Guarded {
public:
  explicit Guarded(int64_t bytes) : bytes(bytes), storage(static_cast<size_t>(bytes) + 2 * guard + 64, fill) {}

  char *data() {
    auto address = reinterpret_cast<uintptr_t>(storage.data()) + guard;
    return reinterpret_cast<char *>((address + 63) / 64 * 64);
  }
  bool intact() {
    const char *begin = data();
    auto untouched = [](char c) { return c == fill; };
    return std::all_of(static_cast<const char *>(storage.data()), begin, untouched) &&
           std::all_of(begin + bytes, static_cast<const char *>(storage.data() + storage.size()), untouched);
  }

private:
  static constexpr size_t guard = 4096;
  static constexpr char fill = '\xff';
  int64_t bytes;
  std::vector<char> storage;
};

int bufferOf(const std::string &role) {
  if (role == "parameter")
    return BURIN_PARAMETERS;
  if (role == "gradient")
    return BURIN_GRADIENTS;
  if (role == "state")
    return BURIN_STATE;
  throw std::runtime_error("no buffer for the role '" + role + "'");
}

struct Address {
  int buffer;
  int64_t offset;
};

Address addressOf(const Slot &slot, const burin_tensor *tensors, int64_t count) {
  if (slot.role != "input" && slot.role != "output")
    return {bufferOf(slot.role), slot.offset};
  for (int64_t i = 0; i < count; ++i)
    if (slot.name == tensors[i].name)
      return {tensors[i].buffer, tensors[i].offset};
  throw std::runtime_error("the compiled entry has no " + slot.role + " '" + slot.name + "'");
}

void write(char *to, const Values &values, bool integers) {
  for (int64_t i = 0; i < values.size(); ++i) {
    const int32_t whole = static_cast<int32_t>(integers ? values[i] : 0);
    const float real = static_cast<float>(values[i]);
    std::memcpy(to + 4 * i, integers ? static_cast<const void *>(&whole) : &real, 4);
  }
}

Values read(const char *from, const Slot &slot) {
  Values values(slot.shape);
  for (int64_t i = 0; i < values.size(); ++i) {
    int32_t whole;
    float real;
    std::memcpy(&whole, from + 4 * i, 4);
    std::memcpy(&real, from + 4 * i, 4);
    values[i] = slot.integers ? whole : static_cast<double>(real);
  }
  return values;
}

// A folder of its own for the object and the library, gone when the loader is done with them.
void *load(llvm::ArrayRef<char> object) {
  llvm::SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("burin-test", folder))
    throw std::runtime_error("no folder for temporary files");
  const std::string objectPath = (folder + "/model.o").str(), libraryPath = (folder + "/model.so").str();
  std::ofstream(objectPath, std::ios::binary).write(object.data(), static_cast<std::streamsize>(object.size()));
  void *library = nullptr;
  std::string error;
  if (auto cc = llvm::sys::findProgramByName("cc")) {
    if (llvm::sys::ExecuteAndWait(*cc, {*cc, "-shared", "-o", libraryPath, objectPath, "-lm"}, std::nullopt, {}, 0, 0,
                                  &error) == 0) {
      library = dlopen(libraryPath.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!library)
        error = dlerror();
    } else {
      error = "cc cannot link the object " + error;
    }
  } else {
    error = "no C compiler to link with";
  }
  llvm::sys::fs::remove_directories(folder);
  if (!library)
    throw std::runtime_error(error);
  return library;
}

} // namespace

mlir::MLIRContext &context() {
  static mlir::MLIRContext *context = [] {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    auto *made = new mlir::MLIRContext(registry); // lives as long as the process
    // Tests run beside each other already.
    made->disableMultithreading();
    made->loadAllAvailableDialects();
    return made;
  }();
  return *context;
}

mlir::OwningOpRef<mlir::ModuleOp> emptyModule(const std::string &cpu) {
  std::string error;
  TargetAttr target = targetFor(context(), cpu, error);
  if (!target)
    throw std::runtime_error(error);
  mlir::Builder b(&context());
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(b.getUnknownLoc());
  (*module)->setAttr("burin.model", b.getStringAttr("test"));
  (*module)->setAttr("burin.target", target);
  (*module)->setAttr("burin.revision", b.getStringAttr("test"));
  (*module)->setAttr("burin.forward_flops", b.getDenseI64ArrayAttr({0, 0, 0, 0}));
  (*module)->setAttr("burin.vocab", b.getI64IntegerAttr(0));
  (*module)->setAttr("burin.parameters", b.getArrayAttr({}));
  (*module)->setAttr("burin.parameter_bytes", b.getI64IntegerAttr(0));
  (*module)->setAttr("burin.moments", b.getI64IntegerAttr(0));
  return module;
}

void lower(mlir::ModuleOp module, const StageOptions &options) {
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      errors += diagnostic.str() + "\n";
    return mlir::success();
  });
  if (failed(runStages(module, allStages(module->getAttrOfType<TargetAttr>("burin.target")), options)))
    throw std::runtime_error("a stage fails: " + errors);
}

mlir::func::FuncOp entry(mlir::ModuleOp module, const std::string &name) {
  auto function = module.lookupSymbol<mlir::func::FuncOp>(name);
  if (!function)
    throw std::runtime_error("no entry '" + name + "'");
  return function;
}

std::vector<std::string> machineTargets() {
  std::set<std::string> has;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("flags")) {
      std::istringstream words(line.substr(line.find(':') + 1));
      for (std::string word; words >> word;)
        has.insert(word);
      break;
    }
  std::vector<std::string> targets;
  for (const char *cpu : {"x86-64", "x86-64-v3", "x86-64-v4"}) {
    std::string error;
    TargetAttr target = targetFor(context(), cpu, error);
    if (!target)
      throw std::runtime_error(error);
    std::istringstream needed(requiredFeatures(target));
    bool runs = true;
    for (std::string feature; std::getline(needed, feature, ',');)
      runs &= has.contains(feature);
    if (runs)
      targets.push_back(cpu);
  }
  return targets;
}

std::vector<std::string> deviceTargets() {
  return whyNoDevice().empty() ? std::vector<std::string>{"nvptx"} : std::vector<std::string>{};
}

std::vector<std::string> allTargets() {
  std::vector<std::string> targets = machineTargets();
  for (const std::string &device : deviceTargets())
    targets.push_back(device);
  return targets;
}

Program::Program(mlir::OwningOpRef<mlir::ModuleOp> imported, StageOptions options) : module(std::move(imported)) {
  auto onStage = options.onStage;
  options.onStage = [&](const Stage &stage, mlir::ModuleOp reached) {
    if (stage.name == "joint")
      jointModule = reached.clone();
    if (onStage)
      onStage(stage, reached);
  };
  lower(*module, options);
  llvm::SmallVector<char, 0> object;
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(module->getContext(), [&](mlir::Diagnostic &diagnostic) {
    errors += diagnostic.str() + "\n";
    return mlir::success();
  });
  if (failed(emitModel(*module, object)))
    throw std::runtime_error("no object: " + errors);
  library = load(object);
  std::string symbol = (*module)->getAttrOfType<mlir::StringAttr>("burin.model").str() + "_model";
  model = static_cast<const burin_model *>(dlsym(library, symbol.c_str()));
  if (!model)
    throw std::runtime_error("the object does not export " + symbol);
  if (model->device == BURIN_CUDA)
    deviceModel = std::make_unique<DeviceModel>(*model);
}

Program::~Program() {
  if (library)
    dlclose(library);
}

const burin_entry &Program::abi(const std::string &name) const {
  for (int64_t i = 0; i < model->num_entries; ++i)
    if (name == model->entries[i].name)
      return model->entries[i];
  throw std::runtime_error("the object has no entry '" + name + "'");
}

// Everything goes to the device, and back after the last launch.
void Program::runOnDevice(const burin_entry &compiled, void *const *bases, Cut cut) const {
  std::vector<DeviceBuffer> buffers;
  std::vector<uint64_t> addresses;
  for (int i = 0; i < BURIN_NUM_BUFFERS; ++i) {
    buffers.emplace_back(compiled.bytes[i]);
    addresses.push_back(buffers.back().address());
    if (compiled.bytes[i] > 0)
      buffers.back().write(0, bases[i], compiled.bytes[i]);
  }
  constexpr int64_t mostBlocks = 64;
  for (int64_t i = 0; i < compiled.num_launches; ++i) {
    const burin_launch &launch = compiled.launches[i];
    deviceModel->launch(launch, addresses, cut == Cut::whole ? std::min(launch.cells, mostBlocks) : 2);
  }
  for (int i = 0; i < BURIN_NUM_BUFFERS; ++i)
    if (compiled.bytes[i] > 0)
      buffers[static_cast<size_t>(i)].read(0, bases[i], compiled.bytes[i]);
}

Results Program::run(const std::string &name, const std::vector<Values> &arguments, Cut cut) const {
  const burin_entry &compiled = abi(name);
  std::vector<Guarded> buffers;
  void *bases[BURIN_NUM_BUFFERS];
  for (int64_t bytes : compiled.bytes)
    buffers.emplace_back(bytes);
  for (int i = 0; i < BURIN_NUM_BUFFERS; ++i)
    bases[i] = buffers[static_cast<size_t>(i)].data();

  auto placed = [&](const Slot &slot, const burin_tensor *tensors, int64_t count) {
    Address address = addressOf(slot, tensors, count);
    if (address.offset + 4 * elements(slot.shape) > compiled.bytes[address.buffer])
      throw std::runtime_error("'" + slot.name + "' does not fit into its buffer of entry '" + name + "'");
    return static_cast<char *>(bases[address.buffer]) + address.offset;
  };
  const std::vector<Slot> inputs = argumentsOf(joint(name));
  if (inputs.size() != arguments.size())
    throw std::runtime_error("entry '" + name + "' takes " + std::to_string(inputs.size()) + " arguments, got " +
                             std::to_string(arguments.size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (arguments[i].shape != inputs[i].shape)
      throw std::runtime_error("argument '" + inputs[i].name + "' of entry '" + name + "' is " +
                               describe(inputs[i].shape) + ", not " + describe(arguments[i].shape));
  for (size_t i = 0; i < inputs.size(); ++i)
    write(placed(inputs[i], compiled.inputs, compiled.num_inputs), arguments[i], inputs[i].integers);

  if (model->device == BURIN_CUDA)
    runOnDevice(compiled, bases, cut);
  Guarded scratch(model->scratch_bytes);
  for (int64_t i = 0; model->device == BURIN_CPU && i < compiled.num_launches; ++i) {
    const burin_launch &launch = compiled.launches[i];
    if (cut == Cut::whole)
      launch.kernel(bases, launch.args, 0, launch.cells, scratch.data());
    else
      for (int64_t cell = launch.cells; cell-- > 0;)
        launch.kernel(bases, launch.args, cell, cell + 1, scratch.data());
    for (int buffer = 0; buffer < BURIN_NUM_BUFFERS; ++buffer)
      if (!buffers[static_cast<size_t>(buffer)].intact())
        throw std::runtime_error(std::string("launch '") + launch.op + "' of entry '" + name +
                                 "' writes outside buffer " + std::to_string(buffer));
    if (!scratch.intact())
      throw std::runtime_error(std::string("launch '") + launch.op + "' of entry '" + name +
                               "' writes outside its scratch");
  }

  Results results;
  for (const Slot &slot : resultsOf(joint(name)))
    results.push_back(read(placed(slot, compiled.outputs, compiled.num_outputs), slot));
  return results;
}

} // namespace burin::test
