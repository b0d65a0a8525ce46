// `MODEL bench`: how long entries take, as a share of what the machine's multiply-add units could do in that time. On a
// CPU the peak loop takes turns with the entry, so that both see the same clock, temperature and neighbours; of a GPU
// the peak is what its units and highest clock come to, and the runs of a turn follow each other without waiting.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "cli/commands.h"
#include "data/corpus.h"
#include "data/loader.h"
#include "text/sampler.h"
#include "train/initialize.h"
#include "train/language_model.h"
#include "train/options.h"
#include "train/random.h"
#include "train/task.h"

namespace burin::runtime {
namespace {

using nlohmann::ordered_json;

struct BenchOptions {
  std::vector<std::string> entries;
  std::string data;
  int64_t pairs = 9;
  double seconds = 0.2;
  bool json = false, byOp = false;
  DeviceOptions device;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Random ids within the bounds that the entry states, counted-up positions, no padding, and numbers that train gently.
void fillInputs(const Device &device, const burin_entry &entry) {
  const Random random(1, "bench");
  for (int64_t i = 0; i < entry.num_inputs; ++i) {
    const burin_tensor &tensor = entry.inputs[i];
    std::string_view name = tensor.name;
    if (tensor.dtype == BURIN_F32) {
      for (float &value : device.values<float>(tensor))
        value = name == "loss_scale" ? 1 / static_cast<float>(std::max<int64_t>(1, entry.batch * entry.length))
                : name == "lr"       ? 1e-6f
                : name == "eps"      ? 1e-8f
                : name == "accumulate" || name == "weight_decay" ? 0.f
                : name == "beta1" || name == "beta2"             ? 0.9f
                                                                 : 1.f;
    } else if (tensor.dtype == BURIN_I32) {
      std::span<int32_t> values = device.values<int32_t>(tensor);
      auto count = static_cast<uint64_t>(tensor.upper - std::max<int64_t>(tensor.lower, 0));
      for (size_t j = 0; j < values.size(); ++j)
        values[j] = static_cast<int32_t>(name == "positions" ? j
                                         : name == "valid"   ? 1
                                         : count             ? random.below(count, j)
                                                             : 0);
    }
  }
}

// An entry to be timed; "step" takes the update with it, since training runs both.
struct Timed {
  Timed(Device &device, const std::string &name)
      : device(device), entry(device.entry(name)), update(name == "step" ? device.findEntry("update") : nullptr) {
    auto *buffer = device.buffer(BURIN_INPUTS);
    for (const burin_entry *each : {&entry, update})
      if (each) {
        fillInputs(device, *each);
        inputs.emplace_back(buffer, buffer + device.model().bytes[BURIN_INPUTS]);
      }
  }

  // The seconds of `runs` runs, and if asked for those of each launch of the last one, the update's last.
  double run(int64_t runs = 1, std::span<double> launches = {}) {
    double start = 0, seconds = 0;
    if (device.runsAhead())
      start = omp_get_wtime();
    for (int64_t i = 0; i < runs; ++i) {
      seconds += runOne(entry, inputs[0],
                        launches.empty() ? launches : launches.first(static_cast<size_t>(entry.num_launches)));
      if (update)
        seconds += runOne(*update, inputs[1],
                          launches.empty() ? launches : launches.subspan(static_cast<size_t>(entry.num_launches)));
    }
    if (!device.runsAhead())
      return seconds;
    device.wait();
    return omp_get_wtime() - start;
  }

  double flops() const { return entry.flops + (update ? update->flops : 0); }

  Device &device;
  const burin_entry &entry;
  const burin_entry *update;

private:
  double runOne(const burin_entry &which, const std::vector<std::byte> &values, std::span<double> launches) {
    std::copy(values.begin(), values.end(), device.buffer(BURIN_INPUTS));
    double start = omp_get_wtime();
    device.run(which, launches);
    return omp_get_wtime() - start;
  }

  std::vector<std::vector<std::byte>> inputs; // of the entry and of the update, which lie in the same place
};

struct Measured {
  double seconds = 0, peak = 0; // medians; peak in GFLOP/s
  std::vector<double> launches; // medians, seconds
};

Measured measure(Timed &timed, const BenchOptions &options) {
  size_t count = static_cast<size_t>(timed.entry.num_launches + (timed.update ? timed.update->num_launches : 0));
  std::vector<double> seconds, peaks;
  std::vector<std::vector<double>> launches(options.byOp ? count : 0);
  // As many runs in a turn as fill the asked time: a single short one would measure how threads wake up.
  timed.run();
  int64_t runs = std::max<int64_t>(1, static_cast<int64_t>(options.seconds / std::max(timed.run(), 1e-9)));
  for (int64_t pair = 0; pair < options.pairs; ++pair) {
    peaks.push_back(timed.device.peak(std::min(options.seconds, 0.1)));
    timed.run(); // the peak loop has evicted nothing, but threads change their pace
    const bool together = timed.device.runsAhead();
    double total = together ? timed.run(runs) : 0;
    for (int64_t i = 0; i < runs && (!together || options.byOp); ++i) {
      std::vector<double> each(launches.size());
      double alone = timed.run(1, each);
      total += together ? 0 : alone;
      for (size_t j = 0; j < each.size(); ++j)
        launches[j].push_back(each[j]);
    }
    seconds.push_back(total / static_cast<double>(runs));
  }
  Measured result{.seconds = median(seconds), .peak = median(peaks), .launches = {}};
  for (const std::vector<double> &values : launches)
    result.launches.push_back(median(values));
  return result;
}

// What depends on a peak that is not known is null.
ordered_json known(double peak, double value) { return peak > 0 ? ordered_json(value) : ordered_json(); }

void printEntry(const Timed &timed, const Measured &measured, bool json) {
  const burin_model &model = timed.device.model();
  double gflops = timed.flops() / measured.seconds / 1e9;
  double tokens = static_cast<double>(timed.entry.batch * timed.entry.length) / measured.seconds;
  if (json) {
    ordered_json line = {{"model", model.name},
                         {"entry", timed.entry.name},
                         {"dtype", model.dtype},
                         {"cpu", model.cpu},
                         {"threads", timed.device.threads()},
                         {"ms", measured.seconds * 1e3},
                         {"tokens_per_s", tokens},
                         {"gflops", gflops},
                         {"peak_gflops", known(measured.peak, measured.peak)},
                         {"peak_fraction", known(measured.peak, gflops / measured.peak)}};
    if (model.device == BURIN_CUDA)
      line.update(
          {{"device", timed.device.name()}, {"text", timed.device.text()}, {"device_bytes", timed.device.bytes()}});
    fmt::print("{}\n", line.dump());
  } else {
    fmt::print("{:<10}{:>12.3f} ms{:>12.0f} {}/s{:>10.1f} GFLOP/s{}, {}\n", timed.entry.name, measured.seconds * 1e3,
               tokens, isRegression(model) ? "points" : "tokens", gflops,
               measured.peak > 0 ? fmt::format("{:>8.3f} of {:.1f}", gflops / measured.peak, measured.peak)
                                 : "  of an unknown peak",
               timed.device.name());
  }
}

void printLaunches(const Timed &timed, const Measured &measured, bool json) {
  if (!json)
    fmt::print("  {:<24} {:<28}{:>8}{:>11}{:>8}{:>10}{:>9}{:>9}  {}\n", "op", "place", "cells", "ms", "share",
               "GFLOP/s", "of peak", "GB/s", "kernel");
  double sum = std::accumulate(measured.launches.begin(), measured.launches.end(), 0.0);
  for (size_t i = 0; i < measured.launches.size(); ++i) {
    auto own = static_cast<size_t>(timed.entry.num_launches);
    const burin_launch &launch = i < own ? timed.entry.launches[i] : timed.update->launches[i - own];
    double seconds = std::max(measured.launches[i], 1e-12), gflops = launch.flops / seconds / 1e9;
    if (json)
      fmt::print("{}\n", ordered_json({{"model", timed.device.model().name},
                                       {"entry", i < own ? timed.entry.name : timed.update->name},
                                       {"launch", i < own ? i : i - own},
                                       {"op", launch.op},
                                       {"place", launch.place},
                                       {"kernel", launch.kernel_name},
                                       {"cells", launch.cells},
                                       {"ms", seconds * 1e3},
                                       {"flops", launch.flops},
                                       {"bytes", launch.bytes},
                                       {"gflops", gflops},
                                       {"gbytes_per_s", launch.bytes / seconds / 1e9},
                                       {"peak_fraction", known(measured.peak, gflops / measured.peak)}})
                             .dump());
    else
      fmt::print("  {:<24} {:<28}{:>8}{:>11.4f}{:>7.1f}%{:>10.1f}{:>9}{:>9.1f}  {}\n", launch.op, launch.place,
                 launch.cells, seconds * 1e3, 100 * seconds / sum, gflops,
                 measured.peak > 0 ? fmt::format("{:.3f}", gflops / measured.peak) : "unknown",
                 launch.bytes / seconds / 1e9, launch.kernel_name);
  }
}

// Choosing a token from the logits, beside computing them.
void benchDraw(const Device &device, const BenchOptions &options, double logitsSeconds) {
  const LogitsEntry entry(device);
  const std::span<const float> row = entry.logits.first(static_cast<size_t>(device.model().vocab));
  device.download(row);
  const Random random(1, "bench");
  uint64_t draws = 0;
  double start = omp_get_wtime(), seconds = 0;
  for (; seconds < std::min(options.seconds, 0.1); ++draws, seconds = omp_get_wtime() - start)
    (void)sample(row, {}, random, draws);
  seconds /= static_cast<double>(draws);
  fmt::print("{:<10}{:>12.4f} ms a draw from {} logits, {:.2f} % of computing them\n", "", seconds * 1e3, row.size(),
             100 * seconds / logitsSeconds);
}

// What it takes to read a batch, beside the step that it is for. Training does it while the step before computes.
void benchBatches(const Device &device, const BenchOptions &options, double stepSeconds) {
  LossEntry step(device, "step");
  const Corpus corpus = openCorpus({.path = options.data,
                                    .tokens = {},
                                    .tokenizer = {},
                                    .validFraction = {},
                                    .vocab = device.model().vocab,
                                    .length = step.entry.length},
                                   nullptr);
  auto random = std::make_unique<RandomWindows>(*corpus.tokens, corpus.parts.train, step.entry.length, 1);
  auto epochs = std::make_unique<EpochWindows>(*corpus.tokens, corpus.parts.train, step.entry.length, 1);
  for (auto [name, windows] : {std::pair<const char *, Windows *>("random", random.get()), {"epochs", epochs.get()}}) {
    int64_t batches = 0;
    double start = omp_get_wtime(), seconds = 0;
    for (; seconds < options.seconds; ++batches, seconds = omp_get_wtime() - start)
      windows->next(step.tokens, step.targets);
    seconds /= static_cast<double>(batches);
    if (options.json)
      fmt::print("{}\n",
                 ordered_json({{"model", device.model().name},
                               {"batch", name},
                               {"ms", seconds * 1e3},
                               {"step_fraction", stepSeconds ? ordered_json(seconds / stepSeconds) : ordered_json()}})
                     .dump());
    else
      fmt::print("{:<10}{:>12.4f} ms a batch of {}{}\n", name, seconds * 1e3, options.data,
                 stepSeconds ? fmt::format(", {:.4f} % of a step", 100 * seconds / stepSeconds) : "");
  }
}

int bench(const Models &models, const BenchOptions &options) {
  Device device = openDevice(models, options.device);
  initialize(device, 1);
  if (device.runsAhead() && !options.json)
    fmt::print("{}: {} bytes allocated, peak {}\n", device.name(), device.bytes(),
               device.peak(0) > 0 ? fmt::format("{:.0f} GFLOP/s in {}", device.peak(0), device.model().dtype)
                                  : "unknown");
  double stepSeconds = 0;
  for (const std::string &name : options.entries) {
    Timed timed(device, name);
    Measured measured = measure(timed, options);
    printEntry(timed, measured, options.json);
    if (options.byOp)
      printLaunches(timed, measured, options.json);
    if (name == "step")
      stepSeconds = measured.seconds;
    if (name == "logits" && !options.json)
      benchDraw(device, options, measured.seconds);
  }
  if (!options.data.empty())
    benchBatches(device, options, stepSeconds);
  return 0;
}

} // namespace

Action addBench(CLI::App &app, const Models &models) {
  const burin_model &model = *models.front();
  CLI::App *command = app.add_subcommand("bench", "time the model's entries against the machine's peak");
  auto options = std::make_shared<BenchOptions>();
  command->add_option("--entry", options->entries,
                      "entries to time; step includes the update [step, loss and logits, where the model has them]");
  addNumber(*command, "--pairs", options->pairs, "turns of peak loop and entry, of which medians are taken, [1, 10000]")
      ->capture_default_str();
  addNumber(*command, "--seconds", options->seconds, "time of one turn, in (0, 60]")->capture_default_str();
  command->add_flag("--json", options->json, "print one JSON object a line");
  command->add_flag("--by-op", options->byOp, "list every launch with its op and place");
  if (!isRegression(model))
    addText(*command, "--data", options->data, "also time reading batches of this text, or these token ids");
  addDevice(*command, options->device);
  return [=, &model, &models] {
    checkRange("--pairs", options->pairs, {1, 10000});
    checkRange("--seconds", options->seconds, {0, 60, true});
    if (options->entries.empty())
      for (std::string_view name : {"step", "loss", "logits"})
        for (int64_t i = 0; i < model.num_entries; ++i)
          if (model.entries[i].name == name)
            options->entries.emplace_back(name);
    return bench(models, *options);
  };
}

} // namespace burin::runtime
