// One optimizer step: arithmetic on a device, no files and no terminal.
#pragma once
#include <deque>
#include <optional>
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

// A step whose results are still to come. On a GPU it is under way meanwhile.
struct Underway {
  double loss = 0; // the sum of those that were answered
  std::deque<Reading> losses;
  int64_t counted = 0;
  std::optional<Reading> gradNorm; // none when no update was tried
};

// A step has three parts, so that with a device that runs ahead the host need not wait in between: while it reads the
// results of a step, the gradients of the next one are computed.
//
// A loss that is not finite stops the update on a CPU only: on a GPU nobody has seen it yet, and it is the norm of the
// gradients alone that decides, there as here.
class Trainer {
public:
  explicit Trainer(Device &device) : device_(device), step_(device), update_(device) {}

  // Draws `accumulate` batches and sums their gradients.
  Underway gradients(Batches &batches, int64_t accumulate);
  // Updates the parameters from the gradients. `number` counts the applied updates from 1. A loss or gradient norm that
  // is not finite leaves parameters and moments unchanged.
  void update(Underway &step, const AdamW &settings, double lr, int64_t number);
  // Waits for what the step gave. `last`: no other gradients were asked for since.
  StepResult result(Underway &step, bool last);

  // All three.
  StepResult step(Batches &batches, int64_t accumulate, const AdamW &settings, double lr, int64_t number);

private:
  double loss(Underway &step);
  std::string firstNonFiniteGradient() const;

  Device &device_;
  GradientEntry step_;
  UpdateEntry update_;
};

} // namespace burin::runtime
