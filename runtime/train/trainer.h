// One optimizer step and one evaluation: arithmetic on a device, no files and no terminal.
#pragma once
#include <string>

#include "data/loader.h"
#include "train/language_model.h"
#include "train/options.h"

namespace burin::runtime {

struct StepResult {
  double loss = 0;     // mean over the counted targets
  double gradNorm = 0; // before clipping; NaN when no update was tried
  std::string skipped; // why the parameters were left as they were; empty after an update
};

class Trainer {
public:
  explicit Trainer(Device &device) : device_(device), step_(device), update_(device) {}

  int64_t tokensPerBatch() const { return static_cast<int64_t>(step_.tokens.size()); }
  int64_t length() const { return step_.entry.length; }

  // Draws `accumulate` batches, sums their gradients and updates. `update` counts the applied updates from 1. A loss or
  // gradient norm that is not finite leaves parameters and moments unchanged.
  StepResult step(RandomWindows &windows, int64_t accumulate, const AdamW &settings, double lr, int64_t update);

private:
  std::string firstNonFiniteGradient() const;

  Device &device_;
  StepEntry step_;
  UpdateEntry update_;
};

struct Evaluation {
  double loss = 0; // mean over the tokens, natural logarithm
  int64_t tokens = 0;
  double perplexity() const;
  double bitsPerByte() const; // one token is one byte
};

// The whole of `part`, each token but the first predicted once.
Evaluation evaluate(Device &device, const TextFile &text, Part part);

} // namespace burin::runtime
