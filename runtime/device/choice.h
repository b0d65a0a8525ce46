// Which machine a program uses: it may carry one model for the CPU and one for GPUs, the same but for their kernels.
#pragma once
#include <string>
#include <vector>

#include "device/device.h"

namespace burin::runtime {

using Models = std::vector<const burin_model *>; // at least one

// Each on its own, and that there is one of a kind and they are the same model.
void checkModels(const Models &models);

// "auto", "cpu" or "gpu".
struct DeviceOptions {
  std::string kind = "auto";
  int threads = 0; // 0: all
};

// The one of a kind; "auto": one for GPUs if there is one. A kind that the program has no code for is a UsageError.
const burin_model &modelFor(const Models &models, const std::string &kind);

// "auto" takes the GPU where there is one that the model can run on and says on standard error what it took and why, if
// there was a choice.
Device openDevice(const Models &models, const DeviceOptions &options);

} // namespace burin::runtime
