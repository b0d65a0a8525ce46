// The text's last part is for validation; the sample at the end shows what all this was for.
#include "train/language_task.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <numeric>

#include "store/checkpoint.h"
#include "text/sampler.h"

namespace burin::runtime {

using nlohmann::json;
using nlohmann::ordered_json;

void TextBatches::seek(uint64_t drawn, int64_t step) {
  windows_.seek(drawn);
  key_ = static_cast<int32_t>(keys_.bits(static_cast<uint64_t>(step)) >> 33) | 1; // 0 would turn dropout off
  row_ = 0;
}

void TextBatches::next() {
  windows_.next(step_.tokens, step_.targets);
  for (int32_t &row : step_.dropout.rows)
    row = row_++;
  std::fill(step_.dropout.key.begin(), step_.dropout.key.end(), key_);
  std::iota(step_.positions.begin(), step_.positions.end(), 0);
}

double Evaluation::perplexity() const { return std::exp(loss); }
double Evaluation::bitsPerByte() const {
  return loss / std::numbers::ln2 * static_cast<double>(tokens) / static_cast<double>(bytes);
}

Evaluation evaluate(Device &device, const TextFile &text, Part part) {
  LossEntry entry(device);
  AllWindows windows(text, part);
  Evaluation result;
  double sum = 0;
  while (int64_t counted = windows.next(entry.tokens, entry.targets)) {
    std::iota(entry.positions.begin(), entry.positions.end(), 0);
    entry.dropout.off();
    device.run(entry.entry);
    sum += entry.loss;
    result.tokens += counted;
  }
  result.loss = sum / static_cast<double>(result.tokens);
  result.bytes = static_cast<int64_t>(text.bytesOf({part.begin + 1, part.end}));
  return result;
}

std::unique_ptr<Tokenizer> savedTokenizer(const json &run) {
  return run.contains("vocabulary") ? restoredTokenizer(run.at("vocabulary")) : std::make_unique<ByteTokenizer>();
}

std::unique_ptr<Tokenizer> savedTokenizer(const std::string &checkpoint) {
  try {
    return savedTokenizer(readCheckpointInfo(checkpoint).run);
  } catch (const json::exception &error) {
    fail("checkpoint {}: its vocabulary is damaged ({})", checkpoint, error.what());
  }
}

namespace {

constexpr int64_t sampleLength = 300;

class LanguageTask : public Task {
public:
  LanguageTask(Device &device, const TrainOptions &options, const json &checkpoint)
      : device_(device), text_(options.data), tokenizer_(tokenizerOf(text_, options, device.model(), checkpoint)),
        parts_(split(text_, options.validFraction, LossEntry(device).entry.length)),
        batches_(device, text_, parts_.train, static_cast<uint64_t>(options.seed)), seed_(options.seed) {}

  std::string unit() const override { return "tokens"; }
  void next() override { batches_.next(); }
  int64_t perBatch() const override { return batches_.perBatch(); }
  void seek(uint64_t drawn, int64_t step) override { batches_.seek(drawn, step); }
  uint64_t drawn() const override { return batches_.drawn(); }
  std::string dataText() const override {
    return fmt::format("{}: {} tokens to train on, {} to validate", text_.path(), parts_.train.size(),
                       parts_.valid.size());
  }
  json fingerprint() const override { return {{"bytes", text_.bytes().size()}, {"fingerprint", text_.fingerprint()}}; }
  json saved() const override { return {{"vocabulary", tokenizer_->saved()}}; }

  ordered_json validate() override {
    Evaluation valid = evaluate(device_, text_, parts_.valid);
    return {{"valid_loss", valid.loss},
            {"valid_tokens", valid.tokens},
            {"perplexity", valid.perplexity()},
            {"bits_per_byte", valid.bitsPerByte()}};
  }

  void report(const ordered_json &valid) override {
    fmt::print("validation loss  {:.4f}  ({} tokens)\nperplexity       {:.3f}\nbits per byte    {:.4f}\n",
               valid.at("valid_loss").get<double>(), valid.at("valid_tokens").get<int64_t>(),
               valid.at("perplexity").get<double>(), valid.at("bits_per_byte").get<double>());
  }

  void sample() override {
    fmt::print("sample:\n");
    generate(device_, *tokenizer_, tokenizer_->start(), sampleLength, {.seed = seed_},
             [](const std::string &text) { std::fwrite(text.data(), 1, text.size(), stdout); });
    fmt::print("\n");
  }

private:
  static std::unique_ptr<Tokenizer> tokenizerOf(TextFile &text, const TrainOptions &options, const burin_model &model,
                                                const json &checkpoint) {
    if (checkpoint.is_null())
      return chooseTokenizer(text, options.tokens.value_or(""), model.vocab);
    std::unique_ptr<Tokenizer> tokenizer = savedTokenizer(checkpoint);
    useTokenizer(text, *tokenizer, model.vocab);
    return tokenizer;
  }

  Device &device_;
  TextFile text_;
  std::unique_ptr<Tokenizer> tokenizer_;
  Parts parts_;
  TextBatches batches_;
  int64_t seed_;
};

} // namespace

std::unique_ptr<Task> makeLanguageTask(Device &device, const TrainOptions &options, const json &checkpoint) {
  return std::make_unique<LanguageTask>(device, options, checkpoint);
}

} // namespace burin::runtime
