#include "device/choice.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

namespace burin::runtime {
namespace {

const burin_model *find(const Models &models, int32_t kind) {
  auto found =
      std::find_if(models.begin(), models.end(), [&](const burin_model *model) { return model->device == kind; });
  return found == models.end() ? nullptr : *found;
}

// What a checkpoint, a flag or a batch of one model means to the other.
bool same(const burin_model &a, const burin_model &b) {
  if (std::string_view(a.name) != b.name || a.vocab != b.vocab || a.moments != b.moments ||
      a.num_parameters != b.num_parameters)
    return false;
  for (int64_t i = 0; i < a.num_parameters; ++i) {
    const burin_parameter &p = a.parameters[i], &q = b.parameters[i];
    if (std::string_view(p.name) != q.name || !std::equal(p.shape, p.shape + p.rank, q.shape, q.shape + q.rank))
      return false;
  }
  for (int64_t i = 0; i < a.num_entries; ++i) {
    const burin_entry &entry = a.entries[i], *end = b.entries + b.num_entries;
    const burin_entry *other =
        std::find_if(b.entries, end, [&](const burin_entry &e) { return std::string_view(e.name) == entry.name; });
    // One of them may prepare where the other need not.
    if (std::string_view(entry.name) != "prepare" &&
        (other == end || entry.batch != other->batch || entry.length != other->length))
      return false;
  }
  return true;
}

} // namespace

void checkModels(const Models &models) {
  if (models.empty())
    fail("internal error: the program has no model (please report)");
  for (const burin_model *model : models)
    checkModel(*model);
  for (size_t i = 1; i < models.size(); ++i) {
    if (find({models.begin(), models.begin() + static_cast<std::ptrdiff_t>(i)}, models[i]->device))
      fail("the program has two models for {}: '{}' and '{}'", models[i]->device == BURIN_CUDA ? "GPUs" : "the CPU",
           models[0]->name, models[i]->name);
    if (!same(*models[0], *models[i]) || !same(*models[i], *models[0]))
      fail("the program's model for the CPU is not the one for GPUs: '{}' and '{}' differ in name, parameters or "
           "entries",
           models[0]->name, models[i]->name);
  }
}

const burin_model &modelFor(const Models &models, const std::string &kind) {
  const burin_model *cpu = find(models, BURIN_CPU), *gpu = find(models, BURIN_CUDA);
  if (kind == "cpu" && !cpu)
    throw UsageError(fmt::format("--device is cpu, but '{}' was compiled for GPUs alone ({})", gpu->name, gpu->cpu));
  if (kind == "gpu" && !gpu)
    throw UsageError(fmt::format("--device is gpu, but '{}' was compiled for the CPU alone ({})", cpu->name, cpu->cpu));
  return kind == "cpu" || !gpu ? *cpu : *gpu;
}

Device openDevice(const Models &models, const DeviceOptions &options) {
  const burin_model &first = modelFor(models, options.kind);
  if (options.kind != "auto" || models.size() == 1)
    return Device(first, options.threads);
  std::string reason;
  try {
    Device device(first, options.threads);
    fmt::print(stderr, "device: {}\n", device.name());
    return device;
  } catch (const NoDevice &none) {
    reason = none.what();
  }
  fmt::print(stderr, "device: the CPU, since {}\n", reason);
  return Device(modelFor(models, "cpu"), options.threads);
}

} // namespace burin::runtime
