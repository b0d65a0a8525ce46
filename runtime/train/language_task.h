// A language model's task: to predict each token of a text from those before it.
#pragma once
#include "data/corpus.h"
#include "data/loader.h"
#include "train/language_model.h"
#include "train/task.h"

namespace burin::runtime {

// Batches of windows, read ahead while the step computes. Dropout gets a key for each step and the number of each
// window within the step, so that it does not matter how a step is cut into batches.
class TextBatches : public Batches {
public:
  // `windows`: "random" or "epochs".
  TextBatches(const Device &device, const Tokens &tokens, Part part, uint64_t seed,
              std::string_view windows = "random");

  void next() override;
  // Windows of training have no ignored targets.
  int64_t perBatch() const override { return static_cast<int64_t>(step_.targets.size()); }
  void seek(uint64_t drawn, int64_t step);
  uint64_t drawn() const { return ahead_.drawn(); }

private:
  StepEntry step_;
  std::unique_ptr<Windows> windows_;
  Prefetch ahead_;
  Random keys_;
  int32_t key_ = 1, row_ = 0;
};

struct Evaluation {
  double loss = 0; // mean over the tokens, natural logarithm
  int64_t tokens = 0;
  int64_t bytes = 0; // of the text that these tokens stand for; 0 where no tokenizer tells
  double perplexity() const;
  double lossPerByte() const;
  double bitsPerByte() const;
};

// The whole of `part`, each token but the first predicted once.
Evaluation evaluate(Device &device, const Tokens &tokens, Part part, const Tokenizer *tokenizer = nullptr);

// The tokenizer of a checkpoint; none where it was trained on ids without one.
std::unique_ptr<Tokenizer> savedTokenizer(const std::string &checkpoint);

std::unique_ptr<Task> makeLanguageTask(Device &device, const TrainOptions &options, const nlohmann::json &checkpoint);

} // namespace burin::runtime
