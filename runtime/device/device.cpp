// The one place where launches meet threads. What a cell computes does not depend on who computes it, so cells are
// handed out freely and results are the same for any number of threads.
#include "device/device.h"

#include <omp.h>

#include <algorithm>
#include <string>
#include <vector>

#include "device/barrier.h"
#include "device/cpu.h"

namespace burin::runtime {
namespace {

constexpr const char *purposes[BURIN_NUM_BUFFERS] = {"parameters",  "gradients", "optimizer state", "derived weights",
                                                     "activations", "inputs",    "outputs"};

// Pieces per thread that a launch is cut into at most: enough to even out slow threads, few enough that handing them
// out costs nothing beside the work.
constexpr int64_t piecesPerThread = 32;

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
  if (auto missing = missingFeatures(model.features); !missing.empty())
    fail("model '{}' was compiled for the CPU {} and needs {}, which this machine ({}) lacks", model.name, model.cpu,
         fmt::join(missing, ", "), cpuName());
  for (int i = 0; i < BURIN_NUM_BUFFERS; ++i)
    memory_[i] = Memory(static_cast<size_t>(model.bytes[i]), purposes[i]);
  // A page apart, so that no two threads write to the same cache line or its neighbour.
  scratchStride_ = (static_cast<size_t>(model.scratch_bytes) + 4095) / 4096 * 4096;
  scratch_ = Memory(scratchStride_ * static_cast<size_t>(threads_), "scratch");
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
  return {reinterpret_cast<float *>(memory_[which].data() + offset + parameter.offset), static_cast<size_t>(count)};
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
  void *buffers[BURIN_NUM_BUFFERS];
  for (int i = 0; i < BURIN_NUM_BUFFERS; ++i)
    buffers[i] = memory_[i].data();

  double start = omp_get_wtime();
  Barrier barrier;
  // One parallel region for the whole entry: threads are awake from the first launch to the last.
#pragma omp parallel num_threads(threads_) if (threads_ > 1)
  {
    void *scratch =
        scratch_.data() ? scratch_.data() + scratchStride_ * static_cast<size_t>(omp_get_thread_num()) : nullptr;
    for (int64_t i = 0; i < entry.num_launches; ++i) {
      const burin_launch &launch = entry.launches[i];
      const int64_t piece = std::max<int64_t>(1, launch.cells / (threads_ * piecesPerThread));
#pragma omp for schedule(dynamic, 1) nowait
      for (int64_t first = 0; first < launch.cells; first += piece)
        launch.kernel(buffers, launch.args, first, std::min(first + piece, launch.cells), scratch);
      barrier.wait(omp_get_num_threads()); // what orders the launches
      if (!seconds.empty() && omp_get_thread_num() == 0) {
        double now = omp_get_wtime();
        seconds[static_cast<size_t>(i)] = now - start;
        start = now;
      }
    }
  }
}

void Device::prepare() {
  if (const burin_entry *entry = findEntry("prepare"))
    run(*entry);
}

} // namespace burin::runtime
