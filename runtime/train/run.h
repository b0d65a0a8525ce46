// A training run from start to end: data, steps, log, checkpoints, signals, the summary.
#pragma once
#include <string>

#include "device/choice.h"
#include "train/options.h"

namespace burin::runtime {

// What belongs to this invocation alone and is not carried on by a resumed run.
struct RunOptions {
  std::string out;
  bool resume = false;
  DeviceOptions device;
  int64_t stopAfter = 0;  // stop after this step as if interrupted; 0: do not
  int64_t printEvery = 0; // steps between two plain progress lines; 0: about sixty lines a run
};

std::string checkpointPath(const std::string &out);

// The options of the run that wrote a checkpoint.
TrainOptions savedOptions(const std::string &checkpoint);

// Returns the exit code: 0, or 128 + the signal that ended the run early (and saved).
int runTraining(const Models &models, const TrainOptions &options, const RunOptions &run);

} // namespace burin::runtime
