// What a program learns from, and how well it does on what was kept back: the part of a run that differs between a
// language model, which reads windows of a text, and a regression, which reads points.
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "train/options.h"
#include "train/trainer.h"

namespace burin::runtime {

class Task : public Batches {
public:
  // What is counted, in the plural: "tokens". Also the name of the counts in the log.
  virtual std::string unit() const = 0;
  // Before step `step`, counted from 1. Batches are drawn from a stream; the number drawn so far is all its state.
  virtual void seek(uint64_t drawn, int64_t step) = 0;
  virtual uint64_t drawn() const = 0;
  // "text.txt: 900 tokens to train on, 100 to validate"
  virtual std::string dataText() const = 0;
  // Tells a resumed run whether it got the same data.
  virtual nlohmann::json fingerprint() const = 0;
  // What later commands need besides the weights; kept in the checkpoint under its own keys.
  virtual nlohmann::json saved() const = 0;
  // The mean loss on what was kept back and what follows from it, as the log has it; empty where nothing was kept back.
  virtual nlohmann::ordered_json validate() = 0;
  // The same as lines for a person, after the last step.
  virtual void report(const nlohmann::ordered_json &validation) = 0;
  // What the model makes of what it learned, where that can be shown as text.
  virtual void sample() {}
};

// By the inputs of the model. `checkpoint`: what the run to be resumed has saved, null for a new run.
std::unique_ptr<Task> makeTask(Device &device, const TrainOptions &options, const nlohmann::json &checkpoint);

// Whether the model reads points (x, y) instead of tokens.
bool isRegression(const burin_model &model);

} // namespace burin::runtime
