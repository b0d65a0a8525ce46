// The text's last part is for validation; the sample at the end shows what all this was for.
#include "train/language_task.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <numeric>
#include <optional>

#include "store/checkpoint.h"
#include "text/sampler.h"

namespace burin::runtime {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

std::unique_ptr<Windows> makeWindows(const Tokens &tokens, Part part, int64_t length, uint64_t seed,
                                     std::string_view kind) {
  if (kind == "epochs")
    return std::make_unique<EpochWindows>(tokens, part, length, seed);
  return std::make_unique<RandomWindows>(tokens, part, length, seed);
}

} // namespace

TextBatches::TextBatches(const Device &device, const Tokens &tokens, Part part, uint64_t seed, std::string_view windows)
    : step_(device), windows_(makeWindows(tokens, part, step_.entry.length, seed, windows)),
      ahead_(*windows_, step_.tokens.size()), keys_(seed, "dropout") {}

void TextBatches::seek(uint64_t drawn, int64_t step) {
  ahead_.seek(drawn);
  key_ = static_cast<int32_t>(keys_.bits(static_cast<uint64_t>(step)) >> 33) | 1; // 0 would turn dropout off
  row_ = 0;
}

void TextBatches::next() {
  ahead_.next(step_.tokens, step_.targets);
  for (int32_t &row : step_.dropout.rows)
    row = row_++;
  std::fill(step_.dropout.key.begin(), step_.dropout.key.end(), key_);
  std::fill(step_.valid.begin(), step_.valid.end(), 1); // windows are full
  std::iota(step_.positions.begin(), step_.positions.end(), 0);
}

double Evaluation::perplexity() const { return std::exp(loss); }
double Evaluation::lossPerByte() const { return loss * static_cast<double>(tokens) / static_cast<double>(bytes); }
double Evaluation::bitsPerByte() const { return lossPerByte() / std::numbers::ln2; }

Evaluation evaluate(Device &device, const Tokens &tokens, Part part, const Tokenizer *tokenizer) {
  LossEntry entry(device);
  AllWindows windows(tokens, part);
  std::vector<int64_t> bytesOf; // by id; one that stands for no text counts none
  for (int32_t id = 0; tokenizer && id < device.model().vocab; ++id)
    bytesOf.push_back(id < tokenizer->vocab() ? static_cast<int64_t>(tokenizer->bytesOf(id).size()) : 0);
  Evaluation result;
  double sum = 0;
  std::optional<Reading> before; // of the batch before: a GPU is given the next one first
  auto add = [&] { sum += before ? device.answer(*before) : 0; };
  while (int64_t counted = windows.next(entry.tokens, entry.targets)) {
    std::iota(entry.positions.begin(), entry.positions.end(), 0);
    std::transform(entry.targets.begin(), entry.targets.begin() + static_cast<std::ptrdiff_t>(entry.valid.size()),
                   entry.valid.begin(), [](int32_t target) { return target != ignored; });
    entry.dropout.off();
    device.run(entry.entry);
    add();
    before = device.ask(entry.loss);
    result.tokens += counted;
    for (int32_t target : entry.targets.first(bytesOf.empty() ? 0 : static_cast<size_t>(counted)))
      result.bytes += bytesOf[static_cast<size_t>(target)];
  }
  add();
  result.loss = sum / static_cast<double>(result.tokens);
  return result;
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
      : device_(device), path_(options.data), corpus_(open(device, options, checkpoint)),
        batches_(device, *corpus_.tokens, corpus_.parts.train, static_cast<uint64_t>(options.seed), options.windows),
        seed_(options.seed) {
    if (options.windows == "epochs")
      perEpoch_ = (corpus_.parts.train.size() - 1) / static_cast<uint64_t>(LossEntry(device).entry.length);
  }

  std::string unit() const override { return "tokens"; }
  void next() override { batches_.next(); }
  int64_t perBatch() const override { return batches_.perBatch(); }
  void seek(uint64_t drawn, int64_t step) override { batches_.seek(drawn, step); }
  uint64_t drawn() const override { return batches_.drawn(); }
  std::string dataText() const override {
    std::string text = fmt::format("{} ({}): {} tokens to train on, {} to validate", path_, corpus_.taken,
                                   corpus_.parts.train.size(), corpus_.parts.valid.size());
    if (perEpoch_)
      text += fmt::format("; epochs of {} windows", perEpoch_);
    return text;
  }
  json fingerprint() const override { return corpus_.fingerprint; }
  json saved() const override {
    return {{"vocabulary", corpus_.tokenizer ? corpus_.tokenizer->saved() : json(nullptr)}};
  }

  ordered_json validate() override {
    Evaluation valid = evaluate(device_, *corpus_.tokens, corpus_.parts.valid, corpus_.tokenizer.get());
    ordered_json result = {
        {"valid_loss", valid.loss}, {"valid_tokens", valid.tokens}, {"perplexity", valid.perplexity()}};
    if (valid.bytes) {
      result["loss_per_byte"] = valid.lossPerByte();
      result["bits_per_byte"] = valid.bitsPerByte();
    }
    return result;
  }

  void report(const ordered_json &valid) override {
    fmt::print("validation loss  {:.4f}  ({} tokens)\nperplexity       {:.3f}\n", valid.at("valid_loss").get<double>(),
               valid.at("valid_tokens").get<int64_t>(), valid.at("perplexity").get<double>());
    if (valid.contains("bits_per_byte"))
      fmt::print("loss per byte    {:.4f}\nbits per byte    {:.4f}\n", valid.at("loss_per_byte").get<double>(),
                 valid.at("bits_per_byte").get<double>());
  }

  void sample() override {
    if (!corpus_.tokenizer)
      return; // nobody said what the ids mean
    fmt::print("sample:\n");
    generate(device_, *corpus_.tokenizer, startIds(*corpus_.tokenizer), sampleLength, {.seed = seed_},
             [](const std::string &text) { std::fwrite(text.data(), 1, text.size(), stdout); });
    fmt::print("\n");
  }

private:
  static Corpus open(const Device &device, const TrainOptions &options, const json &checkpoint) {
    return openCorpus({.path = options.data,
                       .tokens = options.tokens,
                       .tokenizer = options.tokenizer,
                       .validFraction = options.validFraction,
                       .vocab = device.model().vocab,
                       .length = LossEntry(device).entry.length,
                       .check = options.check},
                      checkpoint);
  }

  Device &device_;
  std::string path_;
  Corpus corpus_;
  TextBatches batches_;
  int64_t seed_;
  uint64_t perEpoch_ = 0; // 0: random windows
};

} // namespace

std::unique_ptr<Task> makeLanguageTask(Device &device, const TrainOptions &options, const json &checkpoint) {
  return std::make_unique<LanguageTask>(device, options, checkpoint);
}

} // namespace burin::runtime
