// Builds the constants of runtime/abi/burin.h as LLVM globals. Each struct is laid out from the C header's own offsets
// and types, so that object and header cannot disagree; the sizes asserted below say when a field was added that
// nothing here writes yet.
#include "codegen/emit/object.h"

#include <cstring>
#include <map>
#include <type_traits>

#include "codegen/cpu/object.h"
#include "codegen/emit/tables.h"
#include "codegen/gpu/module.h"
#include "codegen/target/target.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

namespace burin {
namespace {

static_assert(BURIN_ABI_VERSION == 3 && sizeof(burin_launch) == 96 && sizeof(burin_tensor) == 64 &&
                  sizeof(burin_entry) == 136 && sizeof(burin_parameter) == 96 && sizeof(burin_module) == 32 &&
                  sizeof(burin_model) == 232,
              "the ABI's structs have changed: write their new fields below");

class ObjectWriter {
public:
  ObjectWriter(llvm::Module &module) : module(module), context(module.getContext()) {}

  // A zero-terminated string; equal ones exist once.
  llvm::Constant *text(llvm::StringRef value) {
    llvm::Constant *&known = texts[value.str()];
    if (!known)
      known = constant(llvm::ConstantDataArray::getString(context, value), 1);
    return known;
  }

  llvm::Constant *numbers(llvm::ArrayRef<int64_t> values) {
    return array(
        llvm::ConstantDataArray::get(
            context, llvm::ArrayRef<uint64_t>(reinterpret_cast<const uint64_t *>(values.data()), values.size())),
        values.size());
  }

  // An array of structs, each as Record::build leaves it.
  llvm::Constant *records(llvm::ArrayRef<llvm::Constant *> values) {
    if (values.empty())
      return null();
    // All have the same bytes and offsets, hence the same type.
    auto *type = llvm::ArrayType::get(values.front()->getType(), values.size());
    return array(llvm::ConstantArray::get(type, values), values.size());
  }

  llvm::Constant *null() { return llvm::ConstantPointerNull::get(llvm::PointerType::get(context, 0)); }

  // The value of a struct's member, by the member's C type.
  template <typename Member, typename Value> llvm::Constant *member(const Value &value) {
    if constexpr (std::is_array_v<Member>) {
      static_assert(std::is_same_v<std::remove_extent_t<Member>, int64_t>);
      return llvm::ConstantDataArray::get(
          context, llvm::ArrayRef<uint64_t>(reinterpret_cast<const uint64_t *>(value.data()), value.size()));
    } else if constexpr (std::is_pointer_v<Member>) {
      if constexpr (std::is_convertible_v<const Value &, llvm::Constant *>)
        return value;
      else
        return text(value);
    } else if constexpr (std::is_floating_point_v<Member>) {
      return llvm::ConstantFP::get(llvm::Type::getDoubleTy(context), static_cast<double>(value));
    } else {
      return llvm::ConstantInt::get(llvm::Type::getIntNTy(context, 8 * sizeof(Member)), static_cast<uint64_t>(value),
                                    /*IsSigned=*/true);
    }
  }

  llvm::LLVMContext &getContext() { return context; }

private:
  // Hidden, read-only data. Those that hold addresses are relocated by the loader and read-only afterwards.
  llvm::Constant *constant(llvm::Constant *value, unsigned alignment) {
    auto *global = new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::PrivateLinkage, value, "burin");
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    global->setAlignment(llvm::Align(alignment));
    return global;
  }
  llvm::Constant *array(llvm::Constant *value, size_t count) { return count == 0 ? null() : constant(value, 8); }

  llvm::Module &module;
  llvm::LLVMContext &context;
  std::map<std::string, llvm::Constant *> texts;
};

// One struct of the ABI, filled member by member and placed by the C compiler's offsets.
template <typename Struct> class Record {
public:
  explicit Record(ObjectWriter &writer) : writer(writer) {}

  template <typename Member, typename Value> Record &set(Member Struct::*member, const Value &value) {
    static const Struct probe{};
    size_t offset = reinterpret_cast<const char *>(&(probe.*member)) - reinterpret_cast<const char *>(&probe);
    fields[offset] = {writer.member<Member>(value), sizeof(Member)};
    return *this;
  }

  llvm::Constant *build() {
    std::vector<llvm::Constant *> values;
    size_t end = 0;
    auto padTo = [&](size_t offset) {
      if (offset > end)
        values.push_back(llvm::ConstantAggregateZero::get(
            llvm::ArrayType::get(llvm::Type::getInt8Ty(writer.getContext()), offset - end)));
      end = offset;
    };
    for (auto &[offset, field] : fields) {
      padTo(offset);
      values.push_back(field.value);
      end += field.bytes;
    }
    padTo(sizeof(Struct));
    return llvm::ConstantStruct::getAnon(writer.getContext(), values, /*Packed=*/true);
  }

private:
  struct Field {
    llvm::Constant *value;
    size_t bytes;
  };
  ObjectWriter &writer;
  std::map<size_t, Field> fields;
};

llvm::Constant *tensors(ObjectWriter &writer, llvm::ArrayRef<TensorTable> tables) {
  std::vector<llvm::Constant *> values;
  for (const TensorTable &tensor : tables)
    values.push_back(Record<burin_tensor>(writer)
                         .set(&burin_tensor::name, tensor.name)
                         .set(&burin_tensor::dtype, tensor.dtype)
                         .set(&burin_tensor::rank, tensor.shape.size())
                         .set(&burin_tensor::shape, writer.numbers(tensor.shape))
                         .set(&burin_tensor::buffer, tensor.buffer)
                         .set(&burin_tensor::reserved, 0)
                         .set(&burin_tensor::offset, tensor.offset)
                         .set(&burin_tensor::bytes, tensor.bytes)
                         .set(&burin_tensor::lower, tensor.lower)
                         .set(&burin_tensor::upper, tensor.upper)
                         .build());
  return writer.records(values);
}

llvm::Constant *launches(ObjectWriter &writer, llvm::Module &module, llvm::ArrayRef<LaunchTable> tables) {
  std::vector<llvm::Constant *> values;
  for (const LaunchTable &launch : tables)
    values.push_back(
        Record<burin_launch>(writer)
            .set(&burin_launch::kernel, launch.threads > 0 ? writer.null() : module.getFunction(launch.kernel))
            .set(&burin_launch::kernel_name, launch.kernel)
            .set(&burin_launch::op, launch.what)
            .set(&burin_launch::place, launch.place)
            .set(&burin_launch::args, writer.numbers(launch.args))
            .set(&burin_launch::num_args, launch.args.size())
            .set(&burin_launch::cells, launch.cells)
            .set(&burin_launch::flops, launch.flops)
            .set(&burin_launch::bytes, launch.bytes)
            .set(&burin_launch::threads, launch.threads)
            .set(&burin_launch::shared_bytes, launch.sharedBytes)
            .set(&burin_launch::scratch_bytes, launch.scratchBytes)
            .build());
  return writer.records(values);
}

llvm::Constant *entries(ObjectWriter &writer, llvm::Module &module, llvm::ArrayRef<EntryTable> tables) {
  std::vector<llvm::Constant *> values;
  for (const EntryTable &entry : tables)
    values.push_back(Record<burin_entry>(writer)
                         .set(&burin_entry::name, entry.name)
                         .set(&burin_entry::launches, launches(writer, module, entry.launches))
                         .set(&burin_entry::num_launches, entry.launches.size())
                         .set(&burin_entry::inputs, tensors(writer, entry.inputs))
                         .set(&burin_entry::num_inputs, entry.inputs.size())
                         .set(&burin_entry::outputs, tensors(writer, entry.outputs))
                         .set(&burin_entry::num_outputs, entry.outputs.size())
                         .set(&burin_entry::batch, entry.batch)
                         .set(&burin_entry::length, entry.length)
                         .set(&burin_entry::bytes, entry.bytes)
                         .set(&burin_entry::flops, entry.flops)
                         .build());
  return writer.records(values);
}

llvm::Constant *parameters(ObjectWriter &writer, llvm::ArrayRef<ParameterTable> tables) {
  std::vector<llvm::Constant *> values;
  for (const ParameterTable &parameter : tables)
    values.push_back(Record<burin_parameter>(writer)
                         .set(&burin_parameter::name, parameter.name)
                         .set(&burin_parameter::place, parameter.place)
                         .set(&burin_parameter::rank, parameter.shape.size())
                         .set(&burin_parameter::stored_rank, parameter.shape.size())
                         .set(&burin_parameter::shape, writer.numbers(parameter.shape))
                         .set(&burin_parameter::stored_shape, writer.numbers(parameter.shape))
                         .set(&burin_parameter::layout, BURIN_ROW_MAJOR)
                         .set(&burin_parameter::decay, parameter.decay)
                         .set(&burin_parameter::offset, parameter.offset)
                         .set(&burin_parameter::bytes, parameter.bytes)
                         .set(&burin_parameter::init, parameter.init)
                         .set(&burin_parameter::reserved, 0)
                         .set(&burin_parameter::mean, parameter.mean)
                         .set(&burin_parameter::std, parameter.std)
                         .set(&burin_parameter::cut, parameter.cut)
                         .build());
  return writer.records(values);
}

llvm::Constant *deviceModules(ObjectWriter &writer, llvm::ArrayRef<DeviceModule> modules) {
  std::vector<llvm::Constant *> values;
  for (const DeviceModule &module : modules)
    values.push_back(Record<burin_module>(writer)
                         .set(&burin_module::compute_capability, module.computeCapability)
                         .set(&burin_module::exact, module.isExact)
                         .set(&burin_module::text, module.text)
                         .set(&burin_module::bytes, module.text.size())
                         .build());
  return writer.records(values);
}

} // namespace

llvm::LogicalResult emitModel(mlir::ModuleOp native, llvm::SmallVectorImpl<char> &object,
                              std::vector<DeviceModule> *modules) {
  std::optional<ModelTable> model = readTables(native);
  if (!model)
    return llvm::failure();
  llvm::LLVMContext context;
  const bool device = isDevice(model->target);
  std::vector<DeviceModule> texts;
  std::string problem;
  std::unique_ptr<llvm::Module> module;
  // What the object holds besides a GPU's kernels is data, for any host.
  TargetAttr host = device ? targetFor(*native.getContext(), "x86-64", problem) : model->target;
  if (!device) {
    module = translateToLlvm(native, context);
    if (!module)
      return native.emitError("internal error: the native module has no LLVM form (please report)");
  } else {
    if (!emitModules(native, model->target, texts, problem))
      return native.emitError() << "internal error: " << problem << " (please report)";
    module = std::make_unique<llvm::Module>(model->symbol, context);
    module->setPICLevel(llvm::PICLevel::BigPIC);
  }
  module->setModuleIdentifier(model->symbol);
  module->setSourceFileName(model->symbol);
  for (llvm::Function &function : *module)
    if (!function.isDeclaration())
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  for (const EntryTable &entry : model->entries)
    for (const LaunchTable &launch : entry.launches)
      if (llvm::Function *kernel = module->getFunction(launch.kernel); !device && (!kernel || kernel->isDeclaration()))
        return native.emitError() << "internal error: kernel '" << launch.kernel
                                  << "' was not translated (please report)";

  ObjectWriter writer(*module);
  llvm::Constant *value = Record<burin_model>(writer)
                              .set(&burin_model::abi_version, BURIN_ABI_VERSION)
                              .set(&burin_model::struct_size, sizeof(burin_model))
                              .set(&burin_model::name, model->name)
                              .set(&burin_model::dtype, model->dtype)
                              .set(&burin_model::device, device ? BURIN_CUDA : BURIN_CPU)
                              .set(&burin_model::reserved, 0)
                              .set(&burin_model::cpu, model->target.getCpu().getValue())
                              .set(&burin_model::features, requiredFeatures(model->target))
                              .set(&burin_model::source_revision, model->revision)
                              .set(&burin_model::entries, entries(writer, *module, model->entries))
                              .set(&burin_model::num_entries, model->entries.size())
                              .set(&burin_model::parameters, parameters(writer, model->parameters))
                              .set(&burin_model::num_parameters, model->parameters.size())
                              .set(&burin_model::moments, model->moments)
                              .set(&burin_model::parameter_count, model->parameterCount)
                              .set(&burin_model::vocab, model->vocab)
                              .set(&burin_model::bytes, model->bytes)
                              .set(&burin_model::scratch_bytes, model->scratchBytes)
                              .set(&burin_model::modules, deviceModules(writer, texts))
                              .set(&burin_model::num_modules, texts.size())
                              .set(&burin_model::flops_per_step, model->flopsPerStep)
                              .set(&burin_model::forward_flops, model->forwardFlops)
                              .build();
  auto *exported = new llvm::GlobalVariable(*module, value->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::ExternalLinkage, value, model->symbol + "_model");
  exported->setAlignment(llvm::Align(alignof(burin_model)));

  llvm::raw_string_ostream stream(problem);
  if (modules)
    *modules = std::move(texts);
  if (llvm::verifyModule(*module, &stream) || !emitObject(*module, host, object, problem))
    return native.emitError() << "internal error: " << problem << " (please report)";
  return llvm::success();
}

} // namespace burin
