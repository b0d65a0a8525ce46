// Options survive a checkpoint, and nonsense in them is refused with the flag named.
#include "train/options.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "support/expect_error.h"

namespace burin::runtime {
namespace {

TEST(Options, SurviveJson) {
  TrainOptions options;
  options.data = "a \"text\"\n";
  options.lr = 0.1 + 0.2;
  options.warmup = 3;
  options.adamw.clip = std::numeric_limits<double>::infinity();
  options.seed = 9'000'000'000'000'000'000;
  options.fixedBatch = true;
  nlohmann::json json = nlohmann::json::parse(toJson(options).dump());
  TrainOptions back = fromJson(json);
  EXPECT_EQ(toJson(back), toJson(options));
  EXPECT_EQ(back.lr, options.lr);
  EXPECT_EQ(back.adamw.clip, options.adamw.clip);
  EXPECT_FALSE(back.minLr);
  for (const char *later : {"tokenizer", "windows", "check"}) // checkpoints from before these lack them
    json.erase(later);
  EXPECT_EQ(fromJson(json).windows, "random");
  json.erase("lr");
  EXPECT_THROW(fromJson(json), nlohmann::json::exception);
}

template <typename T> void refuse(T TrainOptions::*field, T value, const char *message) {
  TrainOptions options;
  options.*field = value;
  EXPECT_ERROR(check(options), message);
}

void refuse(double AdamW::*field, double value, const char *message) {
  TrainOptions options;
  options.adamw.*field = value;
  EXPECT_ERROR(check(options), message);
}

TEST(Options, RangesExcludeNonsense) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  check(TrainOptions{});
  refuse(&TrainOptions::steps, int64_t{0}, "--steps is 0, but must lie in [1, 1000000000000]");
  refuse(&TrainOptions::steps, int64_t{9'007'199'254'740'993}, "--steps is 9007199254740993, but");
  refuse(&TrainOptions::lr, 0.0, "--lr is 0, but must lie in (0, 10]");
  refuse(&TrainOptions::lr, -1.0, "--lr is -1, but");
  refuse(&TrainOptions::lr, nan, "--lr is nan, but");
  refuse(&TrainOptions::lr, inf, "--lr is inf, but");
  refuse(&TrainOptions::minLr, std::optional(0.5), "--min-lr is 0.5, but must lie in [0, 0.001]");
  refuse(&TrainOptions::minLr, std::optional(nan), "--min-lr is nan, but");
  refuse(&TrainOptions::warmup, std::optional<int64_t>(601), "--warmup is 601 steps, longer than the run of 600 steps");
  refuse(&TrainOptions::warmup, std::optional<int64_t>(-1), "--warmup is -1, but");
  refuse(&TrainOptions::schedule, std::string("linear"), "--schedule is 'linear', but must be cosine or constant");
  refuse(&TrainOptions::accumulate, int64_t{0}, "--accumulate is 0, but");
  refuse(&TrainOptions::validFraction, std::optional(0.0), "--valid-fraction is 0, but must lie in (0, 0.9]");
  refuse(&TrainOptions::validFraction, std::optional(nan), "--valid-fraction is nan, but");
  refuse(&TrainOptions::tokens, std::optional<std::string>("words"),
         "--tokens is 'words', but must be bytes or characters");
  refuse(&TrainOptions::split, std::string("start"), "--split is 'start', but must be end or random");
  refuse(&TrainOptions::seed, int64_t{-1}, "--seed is -1, but");
  refuse(&TrainOptions::saveEvery, int64_t{-1}, "--save-every is -1, but");
  refuse(&TrainOptions::maxSkipped, int64_t{0}, "--max-skipped is 0, but");
  refuse(&AdamW::beta1, 1.0, "--beta1 is 1, but must lie in [0, 1)");
  refuse(&AdamW::beta2, nan, "--beta2 is nan, but");
  refuse(&AdamW::beta2, -0.1, "--beta2 is -0.1, but");
  refuse(&AdamW::eps, 0.0, "--eps is 0, but");
  refuse(&AdamW::weightDecay, -1.0, "--weight-decay is -1, but");
  refuse(&AdamW::clip, 0.0, "--clip is 0, but must lie in (0, inf]");
  refuse(&AdamW::clip, nan, "--clip is nan, but");
}

// A regression may train on all of its points.
TEST(Options, PointsNeedNoValidation) {
  TrainOptions options;
  options.validFraction = 0;
  check(options, /*points=*/true);
  options.validFraction = -0.1;
  EXPECT_ERROR(check(options, /*points=*/true), "--valid-fraction is -0.1, but must lie in [0, 0.9]");
}

} // namespace
} // namespace burin::runtime
