// A compiled model as a worker of the bench: runs its entries by name. "launches" of an answer are [op, seconds, FLOPs,
// bytes]. The case `cases` lists the entries, `step` takes the update with it, `save:FILE` writes the parameters as
// they started and gives the loss of one batch.
#include <omp.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "device/device.h"
#include "train/initialize.h"
#include "worker.h"

extern "C" const burin_model BENCH_MODEL;

using namespace burin;
using nlohmann::json;
using runtime::Device;

namespace {

// Numbers that train gently, ids within their bounds, positions counted up, and draws for everything else.
void fillInputs(const Device &device, const burin_entry &entry) {
  static const std::map<std::string_view, float> scalars = {
      {"accumulate", 0}, {"lr", 1e-6f},          {"beta1", 0.9f},       {"beta2", 0.95f},      {"eps", 1e-8f},
      {"clip", 1},       {"weight_decay", 0.1f}, {"correction1", 0.1f}, {"correction2", 0.05f}};
  for (int64_t i = 0; i < entry.num_inputs; ++i) {
    const burin_tensor &tensor = entry.inputs[i];
    const std::string_view name = tensor.name;
    if (tensor.dtype == BURIN_I32) {
      std::span<int32_t> values = device.values<int32_t>(tensor);
      const int64_t lower = std::max<int64_t>(tensor.lower, 0), count = std::max<int64_t>(tensor.upper - lower, 1);
      for (size_t j = 0; j < values.size(); ++j)
        values[j] = static_cast<int32_t>(
            name == "positions" ? static_cast<int64_t>(j)
                                : lower + static_cast<int64_t>((bench::draw(j + i) + 1) / 2 * float(count)) % count);
      continue;
    }
    std::span<float> values = device.values<float>(tensor);
    if (name == "loss_scale")
      values[0] = 1 / static_cast<float>(std::max<int64_t>(1, entry.batch * entry.length));
    else if (auto scalar = scalars.find(name); scalar != scalars.end())
      values[0] = scalar->second;
    else
      bench::fill(values.data(), static_cast<int64_t>(values.size()), static_cast<uint64_t>(i) << 40 | 1);
  }
}

// The buffers and what they hold, for one number of threads and one entry at a time.
class Program {
public:
  std::string turn(const std::string &name, int threads, double seconds) {
    if (name == "cases")
      return cases().dump();
    if (!device || device->threads() != threads) {
      device.reset(); // first: two would double the memory
      device = std::make_unique<Device>(BENCH_MODEL, threads);
      initialize(*device, 1);
      current.clear();
    }
    if (name.starts_with("save:"))
      return save(name.substr(5)).dump();
    entries = {&device->entry(name)};
    if (const burin_entry *update = device->findEntry("update"); update && name == "step")
      entries.push_back(update);
    if (name != current) {
      prepare();
      current = name;
    }
    size_t count = 0;
    for (const burin_entry *entry : entries)
      count += static_cast<size_t>(entry->num_launches);
    best.assign(count, 0);
    const double total = run(seconds);
    json answer = {{"seconds", total}, {"launches", json::array()}, {"tokens", entries[0]->batch * entries[0]->length}};
    size_t i = 0;
    for (const burin_entry *entry : entries)
      for (int64_t j = 0; j < entry->num_launches; ++j)
        answer["launches"].push_back(
            {entry->launches[j].op, best[i++], entry->launches[j].flops, entry->launches[j].bytes});
    answer["parameters"] = BENCH_MODEL.parameter_count;
    answer["error"] = error;
    return answer.dump();
  }

private:
  static json cases() {
    json names = json::array();
    for (int64_t i = 0; i < BENCH_MODEL.num_entries; ++i)
      names.push_back(BENCH_MODEL.entries[i].name);
    return names;
  }

  // Entries share the memory of their inputs, so those that run in turn are filled each time.
  void prepare() {
    const burin_entry &entry = *entries[0];
    // A model of single kernels has no parameters of its own; what its entries read there is drawn as well.
    if (BENCH_MODEL.num_parameters == 0)
      for (burin_buffer buffer : {BURIN_PARAMETERS, BURIN_GRADIENTS})
        bench::fill(reinterpret_cast<float *>(device->buffer(buffer)), entry.bytes[buffer] / 4, 3 + buffer);
    fillInputs(*device, entry);
    error = 0;
    if (entry.num_inputs == 2 && std::string_view(entry.inputs[0].name) == "a") {
      device->run(entry);
      auto data = [&](const burin_tensor &tensor) { return device->values<float>(tensor).data(); };
      error = bench::Gemm(entry.name)
                  .error(data(device->input(entry, "a")), data(device->input(entry, "b")),
                         data(device->output(entry, "y")));
    }
  }

  // The fastest run and, in `best`, its launches. Not the fastest of each launch: one that the first thread slept
  // through would look fast.
  double run(double seconds) {
    std::vector<double> each(best.size());
    double fastest = INFINITY, spent = 0;
    do {
      double sum = 0;
      size_t first = 0;
      for (const burin_entry *entry : entries) {
        if (entries.size() > 1)
          fillInputs(*device, *entry);
        auto launches = static_cast<size_t>(entry->num_launches);
        const double start = omp_get_wtime();
        device->run(*entry, std::span(each).subspan(first, launches));
        sum += omp_get_wtime() - start;
        first += launches;
      }
      spent += sum;
      if (sum < fastest) {
        fastest = sum;
        best = each;
      }
    } while (spent < seconds);
    return fastest;
  }

  json save(const std::string &file) {
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char *>(device->buffer(BURIN_PARAMETERS)), BENCH_MODEL.bytes[BURIN_PARAMETERS]);
    json answer = {{"parameters", json::array()}};
    for (int64_t i = 0; i < BENCH_MODEL.num_parameters; ++i) {
      const burin_parameter &p = BENCH_MODEL.parameters[i];
      answer["parameters"].push_back({p.name, std::vector<int64_t>(p.shape, p.shape + p.rank), p.offset});
    }
    const burin_entry &entry = device->entry("loss");
    fillInputs(*device, entry);
    device->run(entry);
    for (const char *name : {"tokens", "targets"})
      answer[name] = device->values<int32_t>(device->input(entry, name));
    answer["loss"] = device->values<float>(device->output(entry, "loss"))[0] / double(entry.batch * entry.length);
    current.clear();
    return answer;
  }

  std::unique_ptr<Device> device;
  std::string current;
  std::vector<const burin_entry *> entries;
  std::vector<double> best;
  double error = 0;
};

} // namespace

int main() {
  Program program;
  return bench::serve(
      [&](const std::string &name, int threads, double seconds) { return program.turn(name, threads, seconds); });
}
