// One optimizer step: arithmetic on a device, no files and no terminal.
#pragma once
#include <string>

#include "train/language_model.h"
#include "train/options.h"

namespace burin::runtime {

// Where the inputs of the entry "step" come from.
class Batches {
public:
  virtual ~Batches() = default;
  // Fills them with the next batch.
  virtual void next() = 0;
  // How many targets of a batch count, in every one the same.
  virtual int64_t perBatch() const = 0;
};

struct StepResult {
  double loss = 0;     // mean over the counted targets
  double gradNorm = 0; // before clipping; NaN when no update was tried
  std::string skipped; // why the parameters were left as they were; empty after an update
};

class Trainer {
public:
  explicit Trainer(Device &device) : device_(device), step_(device), update_(device) {}

  // Draws `accumulate` batches, sums their gradients and updates. `update` counts the applied updates from 1. A loss or
  // gradient norm that is not finite leaves parameters and moments unchanged.
  StepResult step(Batches &batches, int64_t accumulate, const AdamW &settings, double lr, int64_t update);

private:
  std::string firstNonFiniteGradient() const;

  Device &device_;
  GradientEntry step_;
  UpdateEntry update_;
};

} // namespace burin::runtime
