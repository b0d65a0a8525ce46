// Random numbers: the published answers, the distributions, and values that must never change.
#include "train/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace burin::runtime {
namespace {

// The known answers that Random123 publishes for philox4x32-10.
TEST(RandomTest, PhiloxMatchesItsPublishedAnswers) {
  auto equal = [](Philox a, Philox b) { return std::equal(a.word, a.word + 4, b.word); };
  EXPECT_TRUE(equal(philox({{0, 0, 0, 0}}, 0, 0), {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
  uint32_t ones = 0xffffffff;
  EXPECT_TRUE(
      equal(philox({{ones, ones, ones, ones}}, ones, ones), {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}));
  EXPECT_TRUE(equal(philox({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0),
                    {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}));
}

// Against tables of the normal distribution, middle and both tails.
TEST(RandomTest, QuantileIsThatOfTheNormalDistribution) {
  EXPECT_EQ(normalQuantile(0.5), 0);
  EXPECT_NEAR(normalQuantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normalQuantile(0.025), -1.959963984540054, 1e-14);
  EXPECT_NEAR(normalQuantile(1e-10), -6.361340902404056, 1e-12);
  EXPECT_NEAR(normalQuantile(1e-16), -8.222082216130435, 1e-12);
}

// Values recorded once: a seed means the same numbers on every machine and in every later version.
TEST(RandomTest, DrawsAreTheRecordedOnes) {
  Random random(1, "windows");
  EXPECT_EQ(random.bits(0), 0x96c1c7eb00d68851u);
  EXPECT_EQ(random.bits(1, 2), 0xf31fd2023c9f9036u);
  EXPECT_EQ(random.normal(5), -0x1.8e9cb6d135c85p-3);
}

TEST(RandomTest, StreamsAndSeedsDiffer) {
  EXPECT_NE(Random(1, "a").bits(0), Random(1, "b").bits(0));
  EXPECT_NE(Random(1, "a").bits(0), Random(2, "a").bits(0));
  EXPECT_NE(Random(1, "a").bits(0), Random(1, "a").bits(0, 1));
  EXPECT_NE(Random(1, "a").bits(0), Random(1, "a").bits(uint64_t{1} << 32));
}

TEST(RandomTest, MomentsAreThoseOfTheNormalDistribution) {
  Random random(3, "normal");
  constexpr int count = 200'000;
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < count; ++i) {
    double x = random.normal(static_cast<uint64_t>(i));
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(squares / count, 1, 0.02);
  EXPECT_NEAR(fourth / count, 3, 0.15);
}

TEST(RandomTest, BelowReachesBothEndsEvenly) {
  Random random(4, "below");
  std::vector<int> seen(7);
  for (uint64_t i = 0; i < 70'000; ++i)
    ++seen[random.below(7, i)];
  for (int count : seen)
    EXPECT_NEAR(count, 10'000, 500);
}

} // namespace
} // namespace burin::runtime
