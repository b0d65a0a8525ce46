// A run on disk: all parameters and optimizer moments by name in their logical shapes, and as JSON text everything else
// that a resumed run must know. A checkpoint fits any build of its model, whatever the layouts and storage types.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "device/device.h"

namespace burin::runtime {

// Replaces `path` in one step; `run` is what loadCheckpoint gives back.
void saveCheckpoint(const std::string &path, const Device &device, const nlohmann::json &run);

struct Checkpoint {
  std::string model; // the name of the model that wrote it
  nlohmann::json run;
};

// Reads the parameters and, when `withMoments`, the optimizer moments; then prepares the model. Everything is checked
// before the first weight is changed.
Checkpoint loadCheckpoint(const std::string &path, Device &device, bool withMoments);

// Refuses what a model of another name wrote: equal shapes do not make equal models.
void expectModel(const std::string &path, const Checkpoint &checkpoint, const burin_model &model);

// The JSON part alone.
Checkpoint readCheckpointInfo(const std::string &path);

} // namespace burin::runtime
