// A language model's task: to predict each token of a text from those before it.
#pragma once
#include "data/loader.h"
#include "train/language_model.h"
#include "train/task.h"

namespace burin::runtime {

// Batches of random windows. Dropout gets a key for each step and the number of each window within the step, so that it
// does not matter how a step is cut into batches.
class TextBatches : public Batches {
public:
  TextBatches(const Device &device, const TextFile &text, Part part, uint64_t seed)
      : step_(device), windows_(text, part, step_.entry.length, seed), keys_(seed, "dropout") {}

  void next() override;
  // Random windows have no ignored targets.
  int64_t perBatch() const override { return static_cast<int64_t>(step_.targets.size()); }
  void seek(uint64_t drawn, int64_t step);
  uint64_t drawn() const { return windows_.drawn(); }

private:
  StepEntry step_;
  RandomWindows windows_;
  Random keys_;
  int32_t key_ = 1, row_ = 0;
};

struct Evaluation {
  double loss = 0; // mean over the tokens, natural logarithm
  int64_t tokens = 0, bytes = 0;
  double perplexity() const;
  double bitsPerByte() const;
};

// The whole of `part`, each token but the first predicted once.
Evaluation evaluate(Device &device, const TextFile &text, Part part);

// The tokenizer of a checkpoint, by what it says of its run or by its path.
std::unique_ptr<Tokenizer> savedTokenizer(const nlohmann::json &run);
std::unique_ptr<Tokenizer> savedTokenizer(const std::string &checkpoint);

std::unique_ptr<Task> makeLanguageTask(Device &device, const TrainOptions &options, const nlohmann::json &checkpoint);

} // namespace burin::runtime
