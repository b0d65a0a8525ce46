// The checks behind checkModel. A model's tables come from our compiler, so a fault here is ours or that of a mixed
// build; better to say so than to write outside a buffer.
#include <cmath>
#include <set>

#include "device/device.h"

namespace burin::runtime {
namespace {

int64_t elements(const int64_t *shape, int64_t rank, const char *name) {
  int64_t count = 1;
  for (int64_t i = 0; i < rank; ++i)
    if (shape[i] < 1 || __builtin_mul_overflow(count, shape[i], &count))
      fail("internal error: '{}' has an impossible shape (please report)", name);
  return count;
}

bool inside(int64_t offset, int64_t bytes, int64_t size) {
  return offset >= 0 && bytes >= 0 && offset <= size && bytes <= size - offset;
}

void checkTensor(const burin_model &model, const burin_entry &entry, const burin_tensor &tensor, burin_buffer buffer) {
  int64_t size = tensor.dtype == BURIN_BF16 ? 2 : 4;
  if (tensor.dtype < BURIN_F32 || tensor.dtype > BURIN_BF16 || tensor.buffer != buffer || tensor.offset % size ||
      elements(tensor.shape, tensor.rank, tensor.name) * size != tensor.bytes ||
      !inside(tensor.offset, tensor.bytes, model.bytes[buffer]))
    fail("internal error: '{}' of entry '{}' does not fit its buffer (please report)", tensor.name, entry.name);
}

void checkParameter(const burin_model &model, const burin_parameter &parameter) {
  if (parameter.layout != BURIN_ROW_MAJOR)
    fail("parameter '{}' has layout {}, which this runtime does not know", parameter.name, parameter.layout);
  if (parameter.init < BURIN_INIT_CONSTANT || parameter.init > BURIN_INIT_UNIFORM || !std::isfinite(parameter.mean) ||
      !std::isfinite(parameter.std) || parameter.std < 0 ||
      (parameter.init == BURIN_INIT_TRUNCATED_NORMAL && !(parameter.cut >= 0.1)))
    fail("parameter '{}' has an initialiser that this runtime does not know", parameter.name);
  int64_t logical = elements(parameter.shape, parameter.rank, parameter.name);
  int64_t stored = elements(parameter.stored_shape, parameter.stored_rank, parameter.name);
  if (logical != stored || stored * 4 > parameter.bytes || parameter.offset % 64 ||
      !inside(parameter.offset, parameter.bytes, model.bytes[BURIN_PARAMETERS]) ||
      !inside(parameter.offset, parameter.bytes, model.bytes[BURIN_GRADIENTS]))
    fail("internal error: parameter '{}' does not fit its buffer (please report)", parameter.name);
}

// What a launch is given: pairs of a buffer and an offset. On a CPU numbers of other kinds may follow them, which only
// the kernel knows.
void checkCudaLaunch(const burin_model &model, const burin_entry &entry, const burin_launch &launch) {
  if (!launch.kernel_name || !*launch.kernel_name)
    fail("internal error: a launch of entry '{}' names no kernel (please report)", entry.name);
  if (launch.threads < 32 || launch.threads > 1024 || launch.threads % 32)
    fail("internal error: kernel '{}' of entry '{}' asks for blocks of {} threads, which are not 32 to 1024 by 32 "
         "(please report)",
         launch.kernel_name, entry.name, launch.threads);
  if (launch.cells < 0 || launch.shared_bytes < 0 || launch.scratch_bytes < 0 || launch.scratch_bytes % 256)
    fail("internal error: kernel '{}' of entry '{}' has {} cells, {} bytes of shared memory and {} of scratch (please "
         "report)",
         launch.kernel_name, entry.name, launch.cells, launch.shared_bytes, launch.scratch_bytes);
  bool fits = launch.num_args % 2 == 0;
  for (int64_t i = 0; fits && i < launch.num_args; i += 2)
    fits = launch.args[i] >= 0 && launch.args[i] < BURIN_NUM_BUFFERS &&
           inside(launch.args[i + 1], 0, model.bytes[launch.args[i]]);
  if (!fits)
    fail("internal error: kernel '{}' of entry '{}' has an argument that lies in no buffer (please report)",
         launch.kernel_name, entry.name);
}

void checkLaunch(const burin_model &model, const burin_entry &entry, const burin_launch &launch) {
  if (model.device == BURIN_CUDA)
    checkCudaLaunch(model, entry, launch);
  else if (!launch.kernel || launch.cells < 0)
    fail("internal error: a launch of entry '{}' has no kernel or {} cells (please report)", entry.name, launch.cells);
}

void checkModules(const burin_model &model) {
  if (model.device == BURIN_CPU)
    return;
  if (model.num_modules < 1)
    fail("internal error: model '{}' is for GPUs and has no kernels for any (please report)", model.name);
  for (int64_t i = 0; i < model.num_modules; ++i) {
    const burin_module &module = model.modules[i];
    if (module.compute_capability < 50 || module.compute_capability > 999 || !module.text || module.bytes < 1 ||
        module.text[module.bytes])
      fail("internal error: module {} of model '{}' is not a text for a compute capability (please report)", i,
           model.name);
  }
}

} // namespace

void checkModel(const burin_model &model) {
  if (model.abi_version != BURIN_ABI_VERSION)
    fail("the model object has ABI version {}, this runtime has {}: compile the model again", model.abi_version,
         BURIN_ABI_VERSION);
  if (model.struct_size != sizeof(burin_model))
    fail("the model object describes itself in {} bytes, this runtime in {}: compile the model again",
         model.struct_size, sizeof(burin_model));
  if (model.device != BURIN_CPU && model.device != BURIN_CUDA)
    fail("model '{}' is for a kind of machine, {}, that this runtime does not know", model.name, model.device);
  checkModules(model);
  for (int64_t bytes : model.bytes)
    if (bytes < 0)
      fail("internal error: a buffer of model '{}' has a negative size (please report)", model.name);
  if (model.moments < 0 || model.bytes[BURIN_STATE] != model.moments * model.bytes[BURIN_PARAMETERS])
    fail("internal error: the optimizer state of model '{}' has {} bytes, but {} moments of {} bytes of parameters "
         "(please report)",
         model.name, model.bytes[BURIN_STATE], model.moments, model.bytes[BURIN_PARAMETERS]);

  std::set<std::string_view> names;
  for (int64_t i = 0; i < model.num_parameters; ++i) {
    checkParameter(model, model.parameters[i]);
    if (!names.insert(model.parameters[i].name).second)
      fail("internal error: two parameters are named '{}' (please report)", model.parameters[i].name);
  }
  for (int64_t i = 0; i < model.num_entries; ++i) {
    const burin_entry &entry = model.entries[i];
    for (int64_t j = 0; j < entry.num_inputs; ++j)
      checkTensor(model, entry, entry.inputs[j], BURIN_INPUTS);
    for (int64_t j = 0; j < entry.num_outputs; ++j)
      checkTensor(model, entry, entry.outputs[j], BURIN_OUTPUTS);
    for (int64_t j = 0; j < entry.num_launches; ++j)
      checkLaunch(model, entry, entry.launches[j]);
  }
}

} // namespace burin::runtime
