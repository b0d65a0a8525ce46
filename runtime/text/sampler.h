// Choosing the next token from logits, and writing text that way.
#pragma once
#include <functional>
#include <string>

#include "device/device.h"
#include "text/tokenizer.h"
#include "train/random.h"

namespace burin::runtime {

struct SampleOptions {
  double temperature = 0.8; // 0: always the most likely token
  int64_t topK = 0;         // 0: no limit
  double topP = 1;          // keep the most likely tokens that together reach this probability
  int64_t seed = 1;
  bool pastEnd = false; // go on after the token that ends a text
};

// The id drawn from one row of logits; `index` numbers the draw.
int32_t sample(std::span<const float> logits, const SampleOptions &options, const Random &random, uint64_t index);

// What a text begins with where nobody says how: the token that ends the one before, or else the tokenizer's start.
std::vector<int32_t> startIds(const Tokenizer &tokenizer);

// Continues `prompt` by `count` tokens, or until the end of the text, through the entry "logits" and hands out their
// text as it comes, in whole characters. The model sees the last tokens that fit its context.
void generate(Device &device, const Tokenizer &tokenizer, std::vector<int32_t> prompt, int64_t count,
              const SampleOptions &options, const std::function<void(const std::string &)> &write);
void generate(Device &device, const Tokenizer &tokenizer, const std::string &prompt, int64_t count,
              const SampleOptions &options, const std::function<void(const std::string &)> &write);

} // namespace burin::runtime
