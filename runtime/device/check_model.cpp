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

} // namespace

void checkModel(const burin_model &model) {
  if (model.abi_version != BURIN_ABI_VERSION)
    fail("the model object has ABI version {}, this runtime has {}: compile the model again", model.abi_version,
         BURIN_ABI_VERSION);
  if (model.struct_size != sizeof(burin_model))
    fail("the model object describes itself in {} bytes, this runtime in {}: compile the model again",
         model.struct_size, sizeof(burin_model));
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
  }
}

} // namespace burin::runtime
