// Kernels on a GPU: `bench_gpu check` runs the small cases of cases.cpp there and on the CPU and compares all that they
// write, `bench_gpu time SECONDS` times the large ones. One JSON object a line; exit code 1 where a result is wrong.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "device/device.h"
#include "worker.h"

#define JOINED_(a, b, c) a##b##c
#define JOINED(a, b, c) JOINED_(a, b, c)
#define MODEL(name) JOINED(bench_gpu_##name, SUFFIX, _model)

extern "C" const burin_model MODEL(check_cpu), MODEL(check), MODEL(time);

using namespace burin;
using nlohmann::ordered_json;
using runtime::Device;

namespace {

// What both add up in another order differs by roundings of sums: of some hundred terms for small cases, far below
// these shares of the largest element. In bf16 single roundings of operands may go the other way, each 2^-9.
double toleranceOf(const burin_model &model) { return std::string_view(model.dtype) == "bf16" ? 0x1p-9 : 1e-5; }

// The same on both: draws, ids within their bounds, numbers for an update that change something.
void fill(const Device &device, const burin_entry &entry) {
  for (int64_t i = 0; i < entry.num_inputs; ++i) {
    const burin_tensor &tensor = entry.inputs[i];
    const std::string_view name = tensor.name;
    if (tensor.dtype == BURIN_I32) {
      std::span<int32_t> values = device.values<int32_t>(tensor);
      const int64_t count = std::max<int64_t>(tensor.upper - std::max<int64_t>(tensor.lower, 0), 1);
      for (size_t j = 0; j < values.size(); ++j)
        values[j] = static_cast<int32_t>(name == "positions" ? static_cast<int64_t>(j)
                                                             : static_cast<int64_t>(j * 2654435761u % count));
      continue;
    }
    std::span<float> values = device.values<float>(tensor);
    bench::fill(values.data(), static_cast<int64_t>(values.size()), static_cast<uint64_t>(i + 1) << 40);
    if (tensor.rank == 0)
      values[0] = name == "lr"                         ? 1e-2f
                  : name == "eps"                      ? 1e-6f
                  : name == "beta1" || name == "beta2" ? 0.9f
                  : name == "weight_decay"             ? 0.1f
                  : name == "accumulate"               ? 0.f
                  : name.starts_with("correction")     ? 0.1f
                                                       : 1.f;
  }
  // Cases have no parameter table: what they read in these buffers is drawn as well. The second moments are positive.
  for (burin_buffer buffer : {BURIN_PARAMETERS, BURIN_GRADIENTS, BURIN_STATE}) {
    std::span<float> values(reinterpret_cast<float *>(device.buffer(buffer)),
                            static_cast<size_t>(device.model().bytes[buffer]) / 4);
    bench::fill(values.data(), static_cast<int64_t>(values.size()), static_cast<uint64_t>(buffer + 1) << 50);
    if (buffer == BURIN_STATE)
      std::transform(values.begin(), values.end(), values.begin(), [](float value) { return value * value; });
    device.upload(values);
  }
}

// All that an entry can have written.
std::vector<float> written(const Device &device, const burin_entry &entry) {
  std::vector<float> all;
  for (burin_buffer buffer : {BURIN_OUTPUTS, BURIN_PARAMETERS, BURIN_GRADIENTS, BURIN_STATE}) {
    std::span<float> values(reinterpret_cast<float *>(device.buffer(buffer)),
                            static_cast<size_t>(entry.bytes[buffer]) / 4);
    device.download(values);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

bool check() {
  Device cpu(MODEL(check_cpu), 0), gpu(MODEL(check), 0);
  bool right = true;
  for (int64_t i = 0; i < cpu.model().num_entries; ++i) {
    const burin_entry &entry = cpu.model().entries[i], &same = gpu.entry(entry.name);
    std::vector<float> results[3];
    fill(cpu, entry);
    cpu.run(entry);
    results[0] = written(cpu, entry);
    for (int turn : {1, 2}) { // two runs: the same bits
      fill(gpu, same);
      gpu.run(same);
      results[turn] = written(gpu, same);
    }
    double worst = results[0].size() == results[1].size() ? 0 : INFINITY, largest = 0;
    for (size_t j = 0; j < results[0].size() && worst < INFINITY; ++j) {
      double difference = std::abs(static_cast<double>(results[0][j]) - results[1][j]);
      worst = difference <= worst ? worst : difference; // NaN included
      largest = std::max(largest, std::abs(static_cast<double>(results[0][j])));
    }
    const bool same_bits = results[1].size() == results[2].size() &&
                           !std::memcmp(results[1].data(), results[2].data(), 4 * results[1].size());
    const bool fits = worst <= toleranceOf(gpu.model()) * largest && largest > 0 && same_bits;
    right = right && fits;
    fmt::print("{}\n", ordered_json({{"check", entry.name},
                                     {"dtype", gpu.model().dtype},
                                     {"text", gpu.text()},
                                     {"worst", worst},
                                     {"largest", largest},
                                     {"same_twice", same_bits},
                                     {"right", fits}})
                           .dump());
  }
  return right;
}

bool time(double seconds) {
  bool right = true;
  Device gpu(MODEL(time), 0);
  const burin_model &model = gpu.model();
  for (int64_t i = 0; i < model.num_entries; ++i) {
    const burin_entry &entry = model.entries[i];
    fill(gpu, entry);
    std::vector<double> launches(static_cast<size_t>(entry.num_launches));
    gpu.run(entry, launches);
    const double once = std::max(gpu.repeat(entry, 1), 1e-6);
    const int64_t times = std::max<int64_t>(3, static_cast<int64_t>(seconds / once));
    const double whole = gpu.repeat(entry, times) / static_cast<double>(times);
    // The products alone: what stands around them packs operands, which a library is given packed.
    gpu.run(entry, launches);
    double products = 0;
    for (size_t j = 0; j < launches.size(); ++j)
      products += entry.launches[j].flops > 0 ? launches[j] : 0;
    ordered_json line = {{"time", entry.name},   {"dtype", model.dtype},      {"device", gpu.name()},
                         {"text", gpu.text()},   {"seconds", whole},          {"products", products},
                         {"flops", entry.flops}, {"peak_gflops", gpu.peak(0)}};
    if (!std::string_view(entry.name).starts_with("attention")) { // a product, or the names below are not there
      auto data = [&](const burin_tensor &tensor) { return gpu.values<float>(tensor); };
      const std::span<float> y = data(gpu.output(entry, "y"));
      gpu.download(y);
      const double error = bench::Gemm(entry.name)
                               .error(data(gpu.input(entry, "a")).data(), data(gpu.input(entry, "b")).data(), y.data());
      const bool fits = error <= toleranceOf(model);
      line["error"] = error;
      line["right"] = fits;
      right = right && fits;
    }
    fmt::print("{}\n", line.dump());
    std::fflush(stdout);
  }
  return right;
}

} // namespace

int main(int argc, char **argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  try {
    if (what == "check" && argc == 2)
      return check() ? 0 : 1;
    if (what == "time" && argc == 3)
      return time(std::stod(argv[2])) ? 0 : 1;
  } catch (const std::exception &error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
  fmt::print(stderr, "usage: bench_gpu check | time SECONDS\n");
  return 2;
}
