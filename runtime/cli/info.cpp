// `MODEL info`: what the model object says of itself. Runs no kernel, so it works on machines that the model does not;
// of a GPU it says what the driver tells, or why there is none.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "cli/commands.h"
#include "device/cpu.h"
#include "device/cuda_device.h"
#include "error.h"

namespace burin::runtime {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char *bufferNames[BURIN_NUM_BUFFERS] = {"parameters", "gradients", "state",  "derived",
                                                        "arena",      "inputs",    "outputs"};
constexpr const char *flopNames[BURIN_NUM_FLOP_KINDS] = {"projections", "feed_forward", "attention", "head"};
constexpr const char *initNames[] = {"constant", "normal", "truncated normal", "uniform"};

std::string shapeText(const int64_t *shape, int64_t rank) {
  return rank ? fmt::format("{}", fmt::join(shape, shape + rank, "x")) : "scalar";
}

std::string initText(const burin_parameter &parameter) {
  std::string text = fmt::format("{} {:g}", initNames[parameter.init], parameter.mean);
  if (parameter.init != BURIN_INIT_CONSTANT)
    text += fmt::format(" +- {:.4g}", parameter.std);
  if (parameter.init == BURIN_INIT_TRUNCATED_NORMAL)
    text += fmt::format(" cut {:g}", parameter.cut);
  return text;
}

int64_t elementsOf(const burin_parameter &parameter) {
  int64_t elements = 1;
  for (int32_t i = 0; i < parameter.rank; ++i)
    elements *= parameter.shape[i];
  return elements;
}

// "layers.3.attn.q_proj.weight" belongs to "layers.*.attn", "lm_head.weight" to "lm_head": layers of a kind are told
// together, and of the names in a layer the first says enough.
std::string moduleOf(std::string_view name) {
  std::string module;
  size_t last = name.rfind('.');
  bool numbered = false;
  for (size_t begin = 0; last != std::string_view::npos && begin < last;) {
    size_t end = std::min(name.find('.', begin), last);
    std::string_view part = name.substr(begin, end - begin);
    const bool isNumber = part.find_first_not_of("0123456789") == std::string_view::npos;
    if (!module.empty() && !isNumber && !numbered)
      break;
    module += (module.empty() ? "" : ".") + std::string(isNumber ? "*" : part);
    if (numbered)
      break;
    numbered = isNumber;
    begin = end + 1;
  }
  return module.empty() ? std::string(name) : module;
}

struct ModuleSums {
  std::string name;
  int64_t tensors = 0, elements = 0, decayed = 0;
};

// In the order of the parameter table.
std::vector<ModuleSums> modulesOf(const burin_model &model) {
  std::vector<ModuleSums> modules;
  for (int64_t i = 0; i < model.num_parameters; ++i) {
    const burin_parameter &parameter = model.parameters[i];
    std::string name = moduleOf(parameter.name);
    auto module = std::find_if(modules.begin(), modules.end(), [&](const ModuleSums &m) { return m.name == name; });
    if (module == modules.end())
      module = modules.insert(module, {.name = name});
    ++module->tensors;
    module->elements += elementsOf(parameter);
    module->decayed += parameter.decay ? elementsOf(parameter) : 0;
  }
  return modules;
}

size_t kernelsOf(const burin_entry &entry) {
  std::set<std::string_view> kernels;
  for (int64_t i = 0; i < entry.num_launches; ++i)
    kernels.insert(entry.launches[i].kernel_name);
  return kernels.size();
}

// Of a block on a GPU: the most that any launch asks for.
int64_t scratchOf(const burin_model &model) {
  int64_t scratch = model.device == BURIN_CUDA ? 0 : model.scratch_bytes;
  for (int64_t i = 0; i < model.num_entries && model.device == BURIN_CUDA; ++i)
    for (int64_t j = 0; j < model.entries[i].num_launches; ++j)
      scratch = std::max(scratch, model.entries[i].launches[j].scratch_bytes);
  return scratch;
}

const char *kindOf(const burin_model &model) { return model.device == BURIN_CUDA ? "gpu" : "cpu"; }

// What GPU there is, as text and as JSON; or why there is none.
struct Gpu {
  Gpu() {
    try {
      const cuda::DeviceFacts found = cuda::findDevice(cuda::Driver::get());
      capability = found.capability;
      text = fmt::format("{}, compute capability {}, {} bytes, {} multiprocessors at {}, driver for CUDA {}.{}",
                         found.name, cuda::capabilityText(found.capability), found.bytes, found.multiprocessors,
                         found.clock > 0 ? fmt::format("{:.0f} MHz", found.clock / 1e6) : "an unknown clock",
                         found.driver / 1000, found.driver % 1000 / 10);
      facts = {{"name", found.name},
               {"compute_capability", cuda::capabilityText(found.capability)},
               {"bytes", found.bytes},
               {"multiprocessors", found.multiprocessors},
               {"clock_mhz", found.clock / 1e6},
               {"cuda_version", found.driver}};
    } catch (const Error &none) {
      text = fmt::format("none: {}", none.what());
      facts = {{"none", none.what()}};
    }
  }
  std::string text;
  ordered_json facts;
  int64_t capability = 0; // where there is one
};

ordered_json describe(const burin_model &model) {
  ordered_json bytes, flops, entries = ordered_json::array(), parameters = ordered_json::array();
  for (int i = 0; i < BURIN_NUM_BUFFERS; ++i)
    bytes[bufferNames[i]] = model.bytes[i];
  bytes[model.device == BURIN_CUDA ? "scratch_per_block" : "scratch_per_thread"] = scratchOf(model);
  for (int i = 0; i < BURIN_NUM_FLOP_KINDS; ++i)
    flops[flopNames[i]] = model.forward_flops[i];
  for (int64_t i = 0; i < model.num_entries; ++i) {
    const burin_entry &entry = model.entries[i];
    entries.push_back({{"name", entry.name},
                       {"batch", entry.batch},
                       {"length", entry.length},
                       {"flops", entry.flops},
                       {"launches", entry.num_launches},
                       {"kernels", kernelsOf(entry)},
                       {"arena_bytes", entry.bytes[BURIN_ARENA]}});
  }
  for (int64_t i = 0; i < model.num_parameters; ++i) {
    const burin_parameter &parameter = model.parameters[i];
    parameters.push_back({{"name", parameter.name},
                          {"shape", std::vector<int64_t>(parameter.shape, parameter.shape + parameter.rank)},
                          {"decay", parameter.decay != 0},
                          {"init", initNames[parameter.init]},
                          {"mean", parameter.mean},
                          {"std", parameter.std},
                          {"cut", parameter.cut},
                          {"place", parameter.place}});
  }
  ordered_json modules = ordered_json::array();
  for (const ModuleSums &module : modulesOf(model))
    modules.push_back({{"module", module.name},
                       {"tensors", module.tensors},
                       {"parameters", module.elements},
                       {"decayed", module.decayed}});
  ordered_json device = {{"device", kindOf(model)}};
  if (model.device == BURIN_CUDA) {
    ordered_json texts = ordered_json::array();
    for (int64_t i = 0; i < model.num_modules; ++i)
      texts.push_back({{"architecture", cuda::architectureOf(model.modules[i])}, {"bytes", model.modules[i].bytes}});
    device["kernel_texts"] = texts;
    const Gpu gpu;
    device["gpu"] = gpu.facts;
    if (const burin_module *text = cuda::textFor(gpu.capability, model))
      device["gpu"]["text"] = cuda::architectureOf(*text);
  }
  ordered_json result = {{"model", model.name},
                         {"dtype", model.dtype},
                         {"cpu", model.cpu},
                         {"features", model.features},
                         {"source_revision", model.source_revision},
                         {"vocab", model.vocab},
                         {"parameters", model.parameter_count},
                         {"flops_per_step", model.flops_per_step},
                         {"forward_flops", flops},
                         {"bytes", bytes},
                         {"modules", modules},
                         {"entries", entries},
                         {"parameter_table", parameters}};
  result.update(device);
  return result;
}

void printModule(const ModuleSums &module, int64_t all) {
  fmt::print("{:<36}{:>9}{:>16}{:>8.1f}%{:>16}\n", module.name, module.tensors, module.elements,
             100 * static_cast<double>(module.elements) / static_cast<double>(all), module.decayed);
}

// Attention is counted in full here, as is usual; "FLOPs per step" counts the causal half.
void printFlops(const burin_model &model) {
  const int64_t *flops = model.forward_flops;
  const int64_t all = std::accumulate(flops, flops + BURIN_NUM_FLOP_KINDS, int64_t{0});
  if (all == 0)
    return;
  fmt::print("\n{:<24}{:>20}{:>9}{:>20}\n", "products for", "forward FLOPs", "share", "training FLOPs");
  for (int i = 0; i < BURIN_NUM_FLOP_KINDS; ++i)
    fmt::print("{:<24}{:>20}{:>8.1f}%{:>20}\n", flopNames[i], flops[i],
               100 * static_cast<double>(flops[i]) / static_cast<double>(all), 3 * flops[i]);
  fmt::print("{:<24}{:>20}{:>8.1f}%{:>20}\n", "all, attention in full", all, 100.0, 3 * all);
}

void print(const burin_model &model) {
  fmt::print("model            {}\ndtype            {}\ndevice           {}\n", model.name, model.dtype, kindOf(model));
  if (model.device == BURIN_CUDA) {
    std::string texts;
    for (int64_t i = 0; i < model.num_modules; ++i)
      texts +=
          fmt::format("{}{} ({} bytes)", i ? ", " : "", cuda::architectureOf(model.modules[i]), model.modules[i].bytes);
    const Gpu gpu;
    fmt::print("kernels for      {}\nGPU              {}\n", texts, gpu.text);
    if (const burin_module *text = cuda::textFor(gpu.capability, model))
      fmt::print("                 it runs those for {}\n", cuda::architectureOf(*text));
    else if (gpu.capability != 0)
      fmt::print("                 it runs none of these kernels: the model cannot run there\n");
  } else {
    fmt::print("cpu              {}\nfeatures         {}\n", model.cpu, model.features);
    for (const std::string &feature : missingFeatures(model.features))
      fmt::print("                 this machine lacks {}: the model cannot run here\n", feature);
  }
  fmt::print("source           {}\nvocabulary       {}\nparameters       {}\nFLOPs per step   {:.0f}\n",
             model.source_revision, model.vocab, model.parameter_count, model.flops_per_step);

  int64_t total = 0;
  fmt::print("\n{:<24}{:>16}\n", "buffer", "bytes");
  for (int i = 0; i < BURIN_NUM_BUFFERS; ++i) {
    fmt::print("{:<24}{:>16}\n", bufferNames[i], model.bytes[i]);
    total += model.bytes[i];
  }
  fmt::print("{:<24}{:>16}\n{:<24}{:>16}\n", "all", total,
             model.device == BURIN_CUDA ? "scratch, per block" : "scratch, per thread", scratchOf(model));

  printFlops(model);

  fmt::print("\n{:<12}{:>8}{:>8}{:>20}{:>10}{:>9}{:>16}\n", "entry", "batch", "length", "FLOPs", "launches", "kernels",
             "arena bytes");
  for (int64_t i = 0; i < model.num_entries; ++i) {
    const burin_entry &entry = model.entries[i];
    fmt::print("{:<12}{:>8}{:>8}{:>20.0f}{:>10}{:>9}{:>16}\n", entry.name, entry.batch, entry.length, entry.flops,
               entry.num_launches, kernelsOf(entry), entry.bytes[BURIN_ARENA]);
  }

  fmt::print("\n{:<36}{:>9}{:>16}{:>9}{:>16}\n", "module", "tensors", "parameters", "share", "with decay");
  ModuleSums all{.name = "all"};
  for (const ModuleSums &module : modulesOf(model)) {
    all.tensors += module.tensors;
    all.elements += module.elements;
    all.decayed += module.decayed;
    printModule(module, model.parameter_count);
  }
  printModule(all, model.parameter_count);

  fmt::print("\n{:<36}{:>14}{:>12}  {:<6} {:<36} {}\n", "parameter", "shape", "elements", "decay", "init", "place");
  for (int64_t i = 0; i < model.num_parameters; ++i) {
    const burin_parameter &parameter = model.parameters[i];
    fmt::print("{:<36}{:>14}{:>12}  {:<6} {:<36} {}\n", parameter.name, shapeText(parameter.shape, parameter.rank),
               elementsOf(parameter), parameter.decay ? "yes" : "no", initText(parameter), parameter.place);
  }
}

} // namespace

Action addInfo(CLI::App &app, const Models &models) {
  CLI::App *command = app.add_subcommand("info", "parameters, FLOPs, memory and entries of the model");
  auto asJson = std::make_shared<bool>(false);
  auto kind = std::make_shared<std::string>("auto");
  command->add_flag("--json", *asJson, "print one JSON object");
  addDeviceKind(*command, *kind)
      ->description("which of the program's models: cpu, gpu, or auto: that for GPUs, if there is one");
  return [=, &models] {
    const burin_model &model = modelFor(models, *kind);
    if (*asJson)
      fmt::print("{}\n", describe(model).dump());
    else
      print(model);
    return 0;
  };
}

} // namespace burin::runtime
