// Every fact is required: a table with a hole would be a program that fails far from here. What is missing or odd at
// this stage is a fault of the compiler or of a dump edited by hand, so the messages name attributes.
#include "codegen/emit/tables.h"

#include <map>
#include <set>

#include "codegen/target/target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "passes/ir/place.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace burin {
namespace {

using namespace mlir;

// Reads named attributes; the first that is missing or of another kind is reported at `op` and remembered.
class Reader {
public:
  Reader(Operation *op, DictionaryAttr from, std::string what) : op(op), from(from), what(std::move(what)) {}

  bool failed() const { return wrong; }

  std::string text(StringRef name) {
    auto attribute = get<StringAttr>(name, "a string");
    return attribute ? attribute.getValue().str() : "";
  }
  int64_t integer(StringRef name) {
    auto attribute = get<IntegerAttr>(name, "an integer");
    return attribute ? attribute.getInt() : 0;
  }
  std::vector<int64_t> integers(StringRef name) {
    auto attribute = get<DenseI64ArrayAttr>(name, "array<i64: ...>");
    return attribute ? attribute.asArrayRef().vec() : std::vector<int64_t>();
  }
  std::vector<double> reals(StringRef name) {
    auto attribute = get<DenseF64ArrayAttr>(name, "array<f64: ...>");
    return attribute ? attribute.asArrayRef().vec() : std::vector<double>();
  }
  ArrayAttr array(StringRef name) { return get<ArrayAttr>(name, "an array"); }
  bool has(StringRef name) const { return from.contains(name); }

  void fail(const Twine &message) {
    if (!wrong)
      op->emitError() << what << " " << message;
    wrong = true;
  }

  template <typename Attribute> Attribute get(StringRef name, StringRef kind) {
    auto attribute = from.getAs<Attribute>(name);
    if (!attribute)
      fail(from.contains(name) ? Twine("has '") + name + "' that is not " + kind : Twine("lacks '") + name + "'");
    return attribute;
  }

private:
  Operation *op;
  DictionaryAttr from;
  std::string what;
  bool wrong = false;
};

// Each name becomes a C name: the header and the exported symbol carry it.
bool isIdentifier(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

int64_t elements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

bool readTensors(Operation *entry, ArrayAttr list, StringRef kind, std::vector<TensorTable> &tensors) {
  std::set<std::string> names;
  for (Attribute item : list) {
    auto dictionary = dyn_cast<DictionaryAttr>(item);
    if (!dictionary) {
      entry->emitError() << kind << " is not a dictionary";
      return false;
    }
    Reader read(entry, dictionary, kind.str());
    TensorTable tensor;
    tensor.name = read.text("name");
    tensor.shape = read.integers("shape");
    tensor.buffer = static_cast<int32_t>(read.integer("buffer"));
    tensor.offset = read.integer("offset");
    std::string dtype = read.text("dtype");
    tensor.dtype = dtype == "i32" ? BURIN_I32 : BURIN_F32;
    if (dtype != "i32" && dtype != "f32")
      read.fail("has dtype '" + Twine(dtype) + "', which entries don't take");
    tensor.bytes = elements(tensor.shape) * 4; // both are four bytes
    if (read.has("bounds")) {
      std::vector<int64_t> bounds = read.integers("bounds");
      if (bounds.size() == 2)
        tensor.lower = bounds[0], tensor.upper = bounds[1];
      else
        read.fail("has 'bounds' that are not two numbers");
    }
    if (!names.insert(tensor.name).second)
      read.fail("'" + Twine(tensor.name) + "' exists twice");
    if (read.failed())
      return false;
    tensors.push_back(std::move(tensor));
  }
  return true;
}

bool readEntry(func::FuncOp function, EntryTable &entry) {
  Reader read(function, function->getAttrDictionary(), ("entry '" + function.getName() + "'").str());
  entry.name = function.getName().str();
  entry.batch = read.integer("burin.batch");
  entry.length = read.integer("burin.length");
  ArrayAttr inputs = read.array("burin.inputs"), outputs = read.array("burin.outputs");
  std::vector<int64_t> bytes = read.integers("burin.bytes");
  if (read.failed())
    return false;
  if (bytes.size() != BURIN_NUM_BUFFERS) {
    read.fail("has 'burin.bytes' of " + Twine(bytes.size()) + " numbers instead of " + Twine(int(BURIN_NUM_BUFFERS)));
    return false;
  }
  llvm::copy(bytes, entry.bytes.begin());
  if (!readTensors(function, inputs, "input", entry.inputs) || !readTensors(function, outputs, "output", entry.outputs))
    return false;
  for (Operation &op : function.getBody().front().without_terminator()) {
    auto launch = dyn_cast<LaunchOp>(op);
    if (!launch) {
      op.emitError() << "entry '" << entry.name << "' holds '" << op.getName() << "' beside its launches";
      return false;
    }
    LaunchTable table{.kernel = launch.getKernel().str(),
                      .what = launch.getWhat().str(),
                      .place = place(launch.getLoc()),
                      .args = {},
                      .cells = static_cast<int64_t>(launch.getCells()),
                      .flops = launch.getFlops().convertToDouble(),
                      .bytes = launch.getBytes().convertToDouble()};
    if (launch.getBuffers().size() != launch.getOffsets().size()) {
      launch.emitError("as many buffers as offsets expected");
      return false;
    }
    for (auto [buffer, offset] : llvm::zip(launch.getBuffers(), launch.getOffsets())) {
      // The kernel may read up to the buffer's end; an address beyond it can only be a mistake.
      if (buffer < 0 || buffer >= BURIN_NUM_BUFFERS || offset < 0 || offset >= entry.bytes[buffer]) {
        launch.emitError() << "argument at byte " << offset << " of buffer " << buffer
                           << " lies outside the entry's buffers";
        return false;
      }
      table.args.push_back(buffer);
      table.args.push_back(offset);
    }
    entry.flops += table.flops;
    entry.launches.push_back(std::move(table));
  }
  return true;
}

bool readParameter(ModuleOp module, Attribute item, ParameterTable &parameter) {
  auto dictionary = dyn_cast<DictionaryAttr>(item);
  if (!dictionary) {
    module.emitError("a parameter is not a dictionary");
    return false;
  }
  Reader read(module, dictionary, "parameter");
  parameter.name = read.text("name");
  parameter.place = read.text("place");
  parameter.shape = read.integers("shape");
  parameter.offset = read.integer("offset");
  parameter.bytes = elements(parameter.shape) * 4;
  parameter.decay = read.has("decay");
  std::string init = read.text("init");
  int kind = llvm::StringSwitch<int>(init)
                 .Case("constant", BURIN_INIT_CONSTANT)
                 .Case("normal", BURIN_INIT_NORMAL)
                 .Case("truncated_normal", BURIN_INIT_TRUNCATED_NORMAL)
                 .Case("uniform", BURIN_INIT_UNIFORM)
                 .Default(-1);
  if (kind < 0)
    read.fail("'" + Twine(parameter.name) + "' has the unknown initialiser '" + init + "'");
  parameter.init = static_cast<burin_init_kind>(kind < 0 ? 0 : kind);
  std::vector<double> values = read.reals("values");
  if (values.size() == 3)
    parameter.mean = values[0], parameter.std = values[1], parameter.cut = values[2];
  else
    read.fail("'" + Twine(parameter.name) + "' has 'values' that are not three numbers (mean, std, cut)");
  return !read.failed();
}

} // namespace

std::optional<ModelTable> readTables(ModuleOp module) {
  ModelTable model;
  Reader read(module, module->getAttrDictionary(), "the module");
  model.name = read.text("burin.model");
  model.symbol = read.has("burin.symbol") ? read.text("burin.symbol") : model.name;
  model.revision = read.text("burin.revision");
  if (auto dtype = module->getAttrOfType<StringAttr>("burin.dtype"))
    model.dtype = dtype.str();
  model.target = read.get<TargetAttr>("burin.target", "#burin.target");
  model.vocab = read.integer("burin.vocab");
  model.moments = read.integer("burin.moments");
  int64_t parameterBytes = read.integer("burin.parameter_bytes");
  ArrayAttr parameters = read.array("burin.parameters");
  std::vector<int64_t> flops = read.integers("burin.forward_flops");
  if (flops.size() == model.forwardFlops.size())
    std::copy(flops.begin(), flops.end(), model.forwardFlops.begin());
  else
    read.fail("has 'burin.forward_flops' that are not " + Twine(model.forwardFlops.size()) + " numbers");
  if (!read.failed() && !isIdentifier(model.symbol))
    read.fail("is named '" + Twine(model.symbol) + "', which is no C name: letters, digits and '_' only");
  if (read.failed())
    return std::nullopt;

  for (Attribute item : parameters) {
    ParameterTable &parameter = model.parameters.emplace_back();
    if (!readParameter(module, item, parameter))
      return std::nullopt;
    if (parameter.offset % 64 != 0 || parameter.offset < 0 || parameter.offset + parameter.bytes > parameterBytes) {
      module.emitError() << "parameter '" << parameter.name << "' at byte " << parameter.offset << " of "
                         << parameterBytes << " lies outside or is not aligned to 64";
      return std::nullopt;
    }
    model.parameterCount += elements(parameter.shape);
  }

  std::map<std::string, std::vector<Operation *>> kernels; // one may have several forms, each for an architecture
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function || !op.hasAttr("burin.kernel"))
      continue;
    auto variantOf = op.getAttrOfType<StringAttr>("burin.variant_of");
    kernels[(variantOf ? variantOf.getValue() : function.getName()).str()].push_back(&op);
    auto scratch = op.getAttrOfType<IntegerAttr>("burin.scratch");
    if (!scratch) {
      op.emitError() << "kernel '" << function.getName() << "' lacks 'burin.scratch'";
      return std::nullopt;
    }
    if (!isDevice(model.target))
      model.scratchBytes = std::max(model.scratchBytes, scratch.getInt());
  }

  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr("burin.entry"))
      continue;
    EntryTable &entry = model.entries.emplace_back();
    if (!readEntry(function, entry))
      return std::nullopt;
    for (LaunchTable &launch : entry.launches) {
      auto kernel = kernels.find(launch.kernel);
      if (kernel == kernels.end()) {
        function.emitError() << "entry '" << entry.name << "' launches '" << launch.kernel << "', which is no kernel";
        return std::nullopt;
      }
      auto number = [&](StringRef name) {
        int64_t most = 0;
        for (Operation *form : kernel->second)
          if (auto attribute = form->getAttrOfType<IntegerAttr>(name))
            most = std::max(most, attribute.getInt());
        return most;
      };
      if (isDevice(model.target) && number("burin.threads") > 0) {
        launch.threads = number("burin.threads");
        launch.sharedBytes = number("burin.shared");
        launch.scratchBytes = number("burin.scratch");
      }
    }
    for (auto [most, bytes] : llvm::zip(model.bytes, entry.bytes))
      most = std::max(most, bytes);
    if (entry.name == "step")
      model.flopsPerStep = entry.flops;
  }
  // Parameters and what belongs to them exist whether or not an entry touches them all.
  model.bytes[BURIN_PARAMETERS] = std::max(model.bytes[BURIN_PARAMETERS], parameterBytes);
  model.bytes[BURIN_GRADIENTS] = std::max(model.bytes[BURIN_GRADIENTS], parameterBytes);
  model.bytes[BURIN_STATE] = std::max(model.bytes[BURIN_STATE], model.moments * parameterBytes);
  return model;
}

} // namespace burin
