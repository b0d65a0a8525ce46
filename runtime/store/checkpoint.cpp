// Names: a parameter under its own name, its moments as "moment1.NAME", "moment2.NAME". Metadata: see the keys below.
#include "store/checkpoint.h"

#include <vector>

#include "store/layout.h"
#include "store/safetensors.h"

namespace burin::runtime {
namespace {

using nlohmann::json;

constexpr const char *format = "burin checkpoint";
constexpr int formatVersion = 1;

std::string shapeText(std::span<const int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::string momentName(int64_t which, const char *parameter) {
  return fmt::format("moment{}.{}", which + 1, parameter);
}

Checkpoint readInfo(const SafetensorsReader &file) {
  const auto &metadata = file.metadata();
  auto value = [&](const char *key) {
    auto found = metadata.find(key);
    return found == metadata.end() ? std::string{} : found->second;
  };
  if (value("format") != format)
    fail("checkpoint {}: a safetensors file, but not one that a Burin program wrote", file.path());
  if (value("format_version") != std::to_string(formatVersion))
    fail("checkpoint {}: format version '{}', this program reads version {}", file.path(), value("format_version"),
         formatVersion);
  auto shallow = [](int depth, json::parse_event_t, json &) { return depth < 8; };
  json run = json::parse(value("run"), shallow, /*allow_exceptions=*/false);
  if (!run.is_object())
    fail("checkpoint {}: its description of the run is not a JSON object", file.path());
  return {value("model"), std::move(run)};
}

// The tensor `name`, which must be there with the given shape.
const StoredTensor &expectTensor(const SafetensorsReader &file, const burin_model &model, const std::string &name,
                                 const burin_parameter &parameter) {
  auto found = file.tensors().find(name);
  std::span<const int64_t> shape(parameter.shape, static_cast<size_t>(parameter.rank));
  if (found == file.tensors().end())
    fail("checkpoint {}: no tensor '{}' {}, which model '{}' needs", file.path(), name, shapeText(shape), model.name);
  const StoredTensor &tensor = found->second;
  if (tensor.dtype != "F32" || !std::equal(shape.begin(), shape.end(), tensor.shape.begin(), tensor.shape.end()))
    fail("checkpoint {}: '{}' is {} {}, model '{}' expects F32 {}", file.path(), name, tensor.dtype,
         shapeText(tensor.shape), model.name, shapeText(shape));
  return tensor;
}

} // namespace

void saveCheckpoint(const std::string &path, const Device &device, const json &run) {
  const burin_model &model = device.model();
  std::vector<TensorSource> tensors;
  for (int64_t which = -1; which < model.moments; ++which) // -1: the parameters themselves
    for (int64_t i = 0; i < model.num_parameters; ++i) {
      const burin_parameter &parameter = model.parameters[i];
      std::span<const float> stored = which < 0 ? device.weights(parameter) : device.moment(parameter, which);
      tensors.push_back({which < 0 ? std::string(parameter.name) : momentName(which, parameter.name),
                         {parameter.shape, parameter.shape + parameter.rank},
                         [&device, &parameter, stored](std::span<float> values) {
                           device.download(stored);
                           toLogical(parameter, stored, values);
                         }});
    }
  writeSafetensors(path, tensors,
                   {{"format", format},
                    {"format_version", std::to_string(formatVersion)},
                    {"model", model.name},
                    {"dtype", model.dtype},
                    {"source_revision", model.source_revision},
                    {"run", run.dump(-1, ' ', false, json::error_handler_t::replace)}});
}

Checkpoint loadCheckpoint(const std::string &path, Device &device, bool withMoments) {
  const burin_model &model = device.model();
  SafetensorsReader file(path);
  Checkpoint checkpoint = readInfo(file);

  struct Read {
    const StoredTensor *tensor;
    const burin_parameter *parameter;
    std::span<float> stored;
  };
  std::vector<Read> reads;
  size_t expected = 0;
  for (int64_t which = -1; which < model.moments; ++which)
    for (int64_t i = 0; i < model.num_parameters; ++i) {
      const burin_parameter &parameter = model.parameters[i];
      std::string name = which < 0 ? std::string(parameter.name) : momentName(which, parameter.name);
      const StoredTensor &tensor = expectTensor(file, model, name, parameter);
      ++expected;
      if (which < 0 || withMoments)
        reads.push_back({&tensor, &parameter, which < 0 ? device.weights(parameter) : device.moment(parameter, which)});
    }
  if (file.tensors().size() != expected)
    for (const auto &[name, tensor] : file.tensors()) {
      bool known = false;
      for (int64_t i = 0; i < model.num_parameters && !known; ++i) {
        known = name == model.parameters[i].name;
        for (int64_t which = 0; which < model.moments && !known; ++which)
          known = name == momentName(which, model.parameters[i].name);
      }
      if (!known)
        fail("checkpoint {}: tensor '{}' {}, which model '{}' does not have", path, name, shapeText(tensor.shape),
             model.name);
    }

  std::vector<float> logical;
  for (const Read &read : reads) {
    logical.resize(logicalSize(*read.parameter));
    file.read(*read.tensor, logical);
    toStored(*read.parameter, logical, read.stored);
    device.upload(read.stored);
  }
  device.prepare();
  return checkpoint;
}

void expectModel(const std::string &path, const Checkpoint &checkpoint, const burin_model &model) {
  if (checkpoint.model != model.name)
    fail("checkpoint {}: written by model '{}', this is model '{}'", path, checkpoint.model, model.name);
}

Checkpoint readCheckpointInfo(const std::string &path) { return readInfo(SafetensorsReader(path)); }

} // namespace burin::runtime
