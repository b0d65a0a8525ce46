// Names, bounds of inputs and the host's side of the buffers: what is the same for all machines.
#include "device/device.h"

#include <omp.h>

#include <algorithm>
#include <string>
#include <vector>

namespace burin::runtime {
namespace {

const burin_tensor *find(const burin_tensor *tensors, int64_t count, std::string_view name) {
  auto *end = tensors + count;
  auto *found = std::find_if(tensors, end, [&](const burin_tensor &tensor) { return tensor.name == name; });
  return found == end ? nullptr : found;
}

// "[3, 7]", the index of an element counted in row-major order.
std::string indexText(const burin_tensor &tensor, int64_t element) {
  std::vector<int64_t> index(static_cast<size_t>(tensor.rank));
  for (int64_t i = tensor.rank - 1; i >= 0; --i) {
    index[static_cast<size_t>(i)] = element % tensor.shape[i];
    element /= tensor.shape[i];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

} // namespace

Device::Device(const burin_model &model, int threads) : model_(model) {
  checkModel(model);
  if (threads < 0 || threads > maxThreads)
    fail("{} threads asked for; between 1 and {} are possible", threads, maxThreads);
  threads_ = threads ? threads : std::min(omp_get_max_threads(), maxThreads);
  machine_ = model.device == BURIN_CUDA ? makeCuda(model) : makeCpu(model, threads_);
  runsAhead_ = machine_->runsAhead();
  for (int i = 0; i < BURIN_NUM_BUFFERS; ++i)
    host_[i] = machine_->host(static_cast<burin_buffer>(i));
}

const burin_entry *Device::findEntry(std::string_view name) const {
  for (int64_t i = 0; i < model_.num_entries; ++i)
    if (model_.entries[i].name == name)
      return &model_.entries[i];
  return nullptr;
}

const burin_entry &Device::entry(std::string_view name) const {
  if (const burin_entry *found = findEntry(name))
    return *found;
  fail("model '{}' has no entry '{}'", model_.name, name);
}

const burin_parameter &Device::parameter(std::string_view name) const {
  for (int64_t i = 0; i < model_.num_parameters; ++i)
    if (model_.parameters[i].name == name)
      return model_.parameters[i];
  fail("model '{}' has no parameter '{}'", model_.name, name);
}

const burin_tensor &Device::input(const burin_entry &entry, std::string_view name) const {
  if (const burin_tensor *found = find(entry.inputs, entry.num_inputs, name))
    return *found;
  fail("entry '{}' of model '{}' has no input '{}'", entry.name, model_.name, name);
}

const burin_tensor &Device::output(const burin_entry &entry, std::string_view name) const {
  if (const burin_tensor *found = find(entry.outputs, entry.num_outputs, name))
    return *found;
  fail("entry '{}' of model '{}' has no output '{}'", entry.name, model_.name, name);
}

std::span<float> Device::stored(burin_buffer which, int64_t offset, const burin_parameter &parameter) const {
  int64_t count = 1;
  for (int32_t i = 0; i < parameter.stored_rank; ++i)
    count *= parameter.stored_shape[i];
  return {reinterpret_cast<float *>(host_[which] + offset + parameter.offset), static_cast<size_t>(count)};
}

void Device::checkInputs(const burin_entry &entry) const {
  for (int64_t i = 0; i < entry.num_inputs; ++i) {
    const burin_tensor &tensor = entry.inputs[i];
    if (tensor.dtype != BURIN_I32 || tensor.lower == tensor.upper)
      continue;
    std::span<const int32_t> all = values<int32_t>(tensor);
    for (size_t j = 0; j < all.size(); ++j)
      if (all[j] < tensor.lower || all[j] >= tensor.upper)
        fail("{}{} is {}, but must be at least {} and less than {}", tensor.name,
             indexText(tensor, static_cast<int64_t>(j)), all[j], tensor.lower, tensor.upper);
  }
}

void Device::run(const burin_entry &entry, std::span<double> seconds) {
  checkInputs(entry);
  machine_->run(entry, seconds);
}

Device::Place Device::placeOf(std::span<const std::byte> values) const {
  const std::byte *first = values.data(), *last = first + values.size();
  for (int i = 0; i < BURIN_NUM_BUFFERS; ++i)
    if (host_[i] && first >= host_[i] && last <= host_[i] + model_.bytes[i])
      return {static_cast<burin_buffer>(i), static_cast<size_t>(first - host_[i])};
  fail("internal error: values to be moved lie in no buffer of model '{}' (please report)", model_.name);
}

void Device::move(std::span<const std::byte> values, void (Machine::*way)(burin_buffer, size_t, size_t)) const {
  if (values.empty())
    return;
  Place place = placeOf(values);
  (*machine_.*way)(place.buffer, place.offset, values.size());
}

Reading Device::ask(const float &value) const {
  Place place = placeOf(std::as_bytes(std::span(&value, 1)));
  return machine_->ask(place.buffer, place.offset);
}

void Device::prepare() {
  if (const burin_entry *entry = findEntry("prepare"))
    run(*entry);
}

} // namespace burin::runtime
