// Draws follow the probabilities, limits cut the tail, and generated text outgrows the context.
#include "text/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "support/expect_error.h"
#include "support/toy_model.h"
#include "train/initialize.h"

namespace burin::runtime {
namespace {

std::vector<int> histogram(const std::vector<float> &logits, SampleOptions options, int count = 10'000) {
  Random random(1, "test");
  std::vector<int> seen(logits.size());
  for (int i = 0; i < count; ++i)
    ++seen[static_cast<size_t>(sample(logits, options, random, static_cast<uint64_t>(i)))];
  return seen;
}

// Probabilities 0.5, 0.25, 0.125, 0.125.
const std::vector<float> logits = {std::log(0.125f), std::log(0.5f), std::log(0.25f), std::log(0.125f)};

TEST(Sampler, DrawsByProbability) {
  std::vector<int> seen = histogram(logits, {.temperature = 1});
  EXPECT_NEAR(seen[1], 5000, 200);
  EXPECT_NEAR(seen[2], 2500, 200);
  EXPECT_NEAR(seen[3], 1250, 150);
}

TEST(Sampler, TemperatureSharpensAndZeroIsGreedy) {
  EXPECT_NEAR(histogram(logits, {.temperature = 0.5})[1], 7272, 250); // 4 : 1 : 1/4 : 1/4 after squaring
  EXPECT_EQ(histogram(logits, {.temperature = 0})[1], 10'000);
  EXPECT_EQ(histogram({3, 3, 3}, {.temperature = 0})[0], 10'000) << "the first of equals";
}

TEST(Sampler, TopKAndTopPCutTheTail) {
  std::vector<int> seen = histogram(logits, {.temperature = 1, .topK = 2});
  EXPECT_EQ(seen[0] + seen[3], 0);
  EXPECT_NEAR(seen[1], 6667, 200);
  EXPECT_EQ(histogram(logits, {.temperature = 1, .topK = 1})[1], 10'000);
  EXPECT_GT(histogram(logits, {.temperature = 1, .topK = 99})[3], 0);
  seen = histogram(logits, {.temperature = 1, .topP = 0.7});
  EXPECT_EQ(seen[0] + seen[3], 0);
  EXPECT_EQ(histogram(logits, {.temperature = 1, .topP = 1e-9})[1], 10'000) << "one token always stays";
}

// Of a large vocabulary only the likeliest are sorted, and the draws are those of a full sort.
TEST(Sampler, SortsNoMoreThanItNeeds) {
  std::vector<float> many(10'000);
  Random random(2, "logits"), draws(1, "test");
  for (size_t i = 0; i < many.size(); ++i)
    many[i] = static_cast<float>(random.normal(i));
  std::vector<int32_t> order(many.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int32_t a, int32_t b) { return many[static_cast<size_t>(a)] > many[static_cast<size_t>(b)]; });
  for (SampleOptions options : {SampleOptions{.temperature = 1}, SampleOptions{.temperature = 1, .topK = 300},
                                SampleOptions{.temperature = 1, .topP = 0.5}}) {
    auto weight = [&](size_t place) { return std::exp(static_cast<double>(many[static_cast<size_t>(order[place])])); };
    size_t kept = options.topK ? static_cast<size_t>(options.topK) : many.size();
    double total = 0, reached = 0;
    for (size_t i = 0; i < kept; ++i)
      total += weight(i);
    for (size_t i = 0; i < kept && reached < options.topP * total; ++i)
      reached += weight(i);
    for (uint64_t draw = 0; draw < 200; ++draw) {
      double point = draws.uniform(draw) * reached;
      size_t place = 0;
      while ((point -= weight(place)) >= 0)
        ++place;
      ASSERT_EQ(sample(many, options, draws, draw), order[place]) << draw;
    }
  }
}

TEST(Sampler, UnusableLogitsAreSaid) { EXPECT_ERROR(histogram({0, NAN}, {}), "the model's logit for token 1 is nan"); }

// The text slides through a context of 16 tokens: a bigram model sees the last token wherever it stands.
TEST(Sampler, TextOutgrowsTheContext) {
  Device device(toy_model, 1);
  initialize(device, 1);
  for (float &weight : device.weights(device.parameter("table.weight")))
    weight = 0;
  for (size_t i = 0; i < 128; ++i) // after each letter comes the next one
    device.weights(device.parameter("table.weight"))[i * 128 + (i + 1) % 128] = 100;
  std::string text;
  generate(device, ByteTokenizer(), "AB", 40, {}, [&](const std::string &token) { text += token; });
  EXPECT_EQ(text, "CDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghij");
}

// After each letter comes the next one, and Z ends a text.
TEST(Sampler, ATextEndsAtItsEnd) {
  struct EndsAtZ : ByteTokenizer {
    std::optional<int32_t> endOfText() const override { return 'Z'; }
  } tokenizer;
  Device device(toy_model, 1);
  initialize(device, 1);
  for (float &weight : device.weights(device.parameter("table.weight")))
    weight = 0;
  for (size_t i = 0; i < 128; ++i)
    device.weights(device.parameter("table.weight"))[i * 128 + (i == 'Z' ? 'A' : i + 1)] = 100;
  auto written = [&](const std::vector<int32_t> &prompt, bool pastEnd) {
    std::string text;
    generate(device, tokenizer, prompt, 40, {.pastEnd = pastEnd}, [&](const std::string &token) { text += token; });
    return text;
  };
  EXPECT_EQ(written({'V'}, false), "WXY");
  EXPECT_EQ(written({'V'}, true), "WXYZABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJ");
  EXPECT_EQ(startIds(tokenizer), std::vector<int32_t>{'Z'}) << "a text begins where another ended";
  EXPECT_EQ(written(startIds(tokenizer), false), "ABCDEFGHIJKLMNOPQRSTUVWXY");
  EXPECT_EQ(startIds(ByteTokenizer()), std::vector<int32_t>{'\n'});
}

TEST(Sampler, UnusablePromptsAreRefused) {
  Device device(toy_model, 1);
  auto ignore = [](const std::string &) {};
  EXPECT_ERROR(generate(device, ByteTokenizer(), "", 1, {}, ignore), "the prompt is empty");
  EXPECT_ERROR(generate(device, ByteTokenizer(), "a\xff", 1, {}, ignore),
               "the prompt has token id 255 at offset 1, but the model's vocabulary ends at 128");
}

} // namespace
} // namespace burin::runtime
