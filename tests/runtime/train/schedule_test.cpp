// The learning rate at the ends and in the middle of a run.
#include "train/schedule.h"

#include <gtest/gtest.h>

#include "train/options.h"

namespace burin::runtime {
namespace {

TEST(Schedule, RisesFallsAndStays) {
  EXPECT_DOUBLE_EQ(cosineRate(1, 1, 0.1, 10, 110), 0.1);
  EXPECT_DOUBLE_EQ(cosineRate(10, 1, 0.1, 10, 110), 1);
  EXPECT_DOUBLE_EQ(cosineRate(60, 1, 0.1, 10, 110), 0.55);
  EXPECT_DOUBLE_EQ(cosineRate(110, 1, 0.1, 10, 110), 0.1);
  EXPECT_DOUBLE_EQ(cosineRate(500, 1, 0.1, 10, 110), 0.1);
}

TEST(Schedule, WarmupMayBeAbsentOrFillTheRun) {
  EXPECT_LT(cosineRate(1, 1, 0.1, 0, 10), 1);
  EXPECT_DOUBLE_EQ(cosineRate(0, 1, 0.1, 0, 10), 1);
  EXPECT_DOUBLE_EQ(cosineRate(10, 1, 0.1, 10, 10), 1);
}

// Unless told otherwise a run of 600 steps warms up for 100, a short one for a sixth, and ends at a tenth.
TEST(Schedule, DefaultsFollowTheLengthOfTheRun) {
  TrainOptions options;
  EXPECT_DOUBLE_EQ(learningRate(options, 50), 0.5e-3);
  EXPECT_DOUBLE_EQ(learningRate(options, 100), 1e-3);
  EXPECT_DOUBLE_EQ(learningRate(options, 600), 1e-4);
  options.steps = 60;
  EXPECT_DOUBLE_EQ(learningRate(options, 10), 1e-3);
  options.schedule = "constant";
  EXPECT_DOUBLE_EQ(learningRate(options, 1), 1e-3);
}

} // namespace
} // namespace burin::runtime
