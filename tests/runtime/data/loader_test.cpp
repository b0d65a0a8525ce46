// Windows stay inside their part, go on from a count, and cover a part exactly once.
#include "data/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "data/text_file.h"
#include "support/expect_error.h"
#include "support/program.h"

namespace burin::runtime {
namespace {

std::string countedUp(int size) {
  std::string text;
  for (int i = 0; i < size; ++i)
    text += static_cast<char>(i);
  return text;
}

TEST(RandomWindowsTest, TargetsFollowTheirTokensWithinThePart) {
  test::Folder folder;
  TextFile text(folder.write("text", countedUp(200)), 256);
  RandomWindows windows(text, {50, 60}, 4, 1);
  std::set<int32_t> starts;
  for (int i = 0; i < 100; ++i) {
    std::vector<int32_t> tokens(8), targets(8);
    windows.next(tokens, targets);
    for (size_t j = 0; j < 8; ++j) {
      EXPECT_EQ(targets[j], tokens[j] + 1);
      EXPECT_EQ(tokens[j], tokens[j / 4 * 4] + static_cast<int32_t>(j % 4));
    }
    starts.insert(tokens[0]);
    starts.insert(tokens[4]);
  }
  EXPECT_EQ(*starts.begin(), 50);
  EXPECT_EQ(*starts.rbegin(), 55); // the window 55..58 and its last target 59
  EXPECT_EQ(starts.size(), 6u);
}

// The number of windows drawn is all that a resumed loader needs to know.
TEST(RandomWindowsTest, ContinuesFromItsCount) {
  test::Folder folder;
  TextFile text(folder.write("text", countedUp(250)), 256);
  std::vector<int32_t> tokens(12), again(12), targets(12);
  RandomWindows first(text, {0, 250}, 4, 9);
  first.next(tokens, targets);
  RandomWindows second(text, {0, 250}, 4, 9, first.drawn());
  first.next(tokens, targets);
  second.next(again, targets);
  EXPECT_EQ(first.drawn(), 6u);
  EXPECT_EQ(tokens, again);
}

// The ids 0, 1, 2, ... as far as asked: nothing that takes memory, so that places may be large.
struct Counted : Tokens {
  explicit Counted(uint64_t count) : count(count) {}
  uint64_t size() const override { return count; }
  void read(uint64_t first, std::span<int32_t> ids) const override {
    if (first + ids.size() > count)
      fail("read beyond the end");
    if (first >= broken)
      fail("cannot read token {}", first);
    std::iota(ids.begin(), ids.end(), static_cast<int32_t>(first));
  }
  const std::string &path() const override { return name; }
  uint64_t count, broken = UINT64_MAX;
  std::string name = "counted";
};

// The first tokens of the next windows, each window looked at.
std::vector<int32_t> starts(Windows &windows, size_t count) {
  std::vector<int32_t> result;
  std::vector<int32_t> tokens(windows.length()), targets(windows.length());
  for (size_t i = 0; i < count; ++i) {
    windows.next(tokens, targets);
    for (size_t j = 0; j < tokens.size(); ++j) {
      EXPECT_EQ(tokens[j], tokens[0] + static_cast<int32_t>(j));
      EXPECT_EQ(targets[j], tokens[j] + 1);
    }
    result.push_back(tokens[0]);
  }
  return result;
}

TEST(PermutationTest, EveryNumberComesOnce) {
  for (uint64_t count : {1u, 2u, 3u, 4u, 5u, 16u, 17u, 1000u, 4096u, 4097u})
    for (uint64_t which : {0u, 1u, 7u}) {
      Permutation order(count, 3);
      std::set<uint64_t> seen;
      for (uint64_t i = 0; i < count; ++i)
        seen.insert(order.at(i, which));
      EXPECT_EQ(seen.size(), count);
      EXPECT_LT(*seen.rbegin(), count);
    }
}

TEST(PermutationTest, SeedsAndEpochsDiffer) {
  auto first = [](uint64_t seed, uint64_t which) {
    std::vector<uint64_t> numbers;
    for (uint64_t i = 0; i < 20; ++i)
      numbers.push_back(Permutation(1000, seed).at(i, which));
    return numbers;
  };
  EXPECT_EQ(first(1, 0), first(1, 0));
  EXPECT_NE(first(1, 0), first(2, 0));
  EXPECT_NE(first(1, 0), first(1, 1));
  EXPECT_FALSE(std::is_sorted(first(1, 0).begin(), first(1, 0).end()));
}

// No place prefers a number: each of 10 numbers comes about equally often at the first place of 10,000 orders.
TEST(PermutationTest, NoNumberIsPreferred) {
  Permutation order(10, 5);
  std::vector<int> seen(10);
  for (uint64_t which = 0; which < 10'000; ++which)
    ++seen[order.at(0, which)];
  for (int count : seen)
    EXPECT_NEAR(count, 1000, 150);
}

// The part is 103 tokens from 1000 on: 20 windows of 5 and their last target, and two tokens that fill no window.
TEST(EpochWindowsTest, EveryWindowOnceInEachEpoch) {
  Counted tokens(2000);
  EpochWindows windows(tokens, {1000, 1103}, 5, 1);
  EXPECT_EQ(windows.perEpoch(), 20u);
  std::vector<int32_t> expected(20), before;
  for (size_t i = 0; i < 20; ++i)
    expected[i] = static_cast<int32_t>(1000 + 5 * i);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<int32_t> order = starts(windows, 20), sorted = order;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, expected);
    EXPECT_NE(order, before) << "each epoch has an order of its own";
    before = order;
  }
  EpochWindows other(tokens, {1000, 1103}, 5, 2);
  windows.seek(0);
  EXPECT_NE(starts(windows, 20), starts(other, 20)) << "so has each seed";
}

// 101 tokens have 20 windows of 5, and 100 have one target too few for the last.
TEST(EpochWindowsTest, TheRemainderIsInNoWindow) {
  Counted tokens(2000);
  EXPECT_EQ(EpochWindows(tokens, {0, 101}, 5, 1).perEpoch(), 20u);
  EXPECT_EQ(EpochWindows(tokens, {0, 100}, 5, 1).perEpoch(), 19u);
  EXPECT_EQ(EpochWindows(tokens, {0, 6}, 5, 1).perEpoch(), 1u);
  EXPECT_ERROR(EpochWindows(tokens, {0, 101}, 5, 1, 0, 0, 21),
               "has fewer windows of 5 tokens than there are ranks: 101 tokens, 21 ranks");
}

// Ranks share out the order of a single one; what is left of 23 windows for 4 ranks are the order's last three.
TEST(EpochWindowsTest, RanksAreDisjointAndComplete) {
  Counted tokens(2000);
  const Part part{0, 23 * 5 + 1};
  EpochWindows alone(tokens, part, 5, 8);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<int32_t> order = starts(alone, 23), together(20);
    for (uint64_t rank = 0; rank < 4; ++rank) {
      EpochWindows windows(tokens, part, 5, 8, static_cast<uint64_t>(epoch) * 5, rank, 4);
      ASSERT_EQ(windows.perEpoch(), 5u);
      std::vector<int32_t> slice = starts(windows, 5);
      for (size_t i = 0; i < 5; ++i)
        together[4 * i + rank] = slice[i];
    }
    order.resize(20);
    EXPECT_EQ(together, order);
  }
}

// Saved and restored after any number of windows around the end of an epoch, in batches that reach across it.
TEST(EpochWindowsTest, ContinuesFromItsCountAnywhere) {
  Counted tokens(2000);
  const Part part{0, 23 * 5 + 1};
  EpochWindows whole(tokens, part, 5, 4);
  const std::vector<int32_t> expected = starts(whole, 100);
  for (uint64_t drawn = 0; drawn < 60; ++drawn) {
    EpochWindows resumed(tokens, part, 5, 4, drawn);
    std::vector<int32_t> batch(4 * 5), targets(4 * 5);
    for (uint64_t at = drawn; at + 4 <= 70; at += 4) {
      resumed.next(batch, targets);
      for (size_t row = 0; row < 4; ++row)
        ASSERT_EQ(batch[5 * row], expected[at + row]) << "after " << drawn;
      ASSERT_EQ(resumed.drawn(), at + 4);
    }
  }
}

// Places that 32 bits do not hold, in both orders.
TEST(WindowsTest, PlacesHave64Bits) {
  struct Far : Counted {
    using Counted::Counted;
    void read(uint64_t first, std::span<int32_t> ids) const override {
      farthest = std::max(farthest, first + ids.size());
      EXPECT_LE(first + ids.size(), count);
      std::fill(ids.begin(), ids.end(), 0);
    }
    mutable uint64_t farthest = 0;
  } tokens(uint64_t{1} << 40);
  std::vector<int32_t> ids(64 * 128), targets(64 * 128);
  RandomWindows(tokens, {0, tokens.size()}, 128, 1).next(ids, targets);
  EXPECT_GT(tokens.farthest, tokens.size() / 2);
  tokens.farthest = 0;
  EpochWindows(tokens, {0, tokens.size()}, 128, 1).next(ids, targets);
  EXPECT_GT(tokens.farthest, tokens.size() / 2);
}

// What is read ahead is what would have been read: in a row, after a jump, and with the same place asked again.
TEST(PrefetchTest, ChangesNothing) {
  Counted tokens(2000);
  EpochWindows windows(tokens, {0, 1000}, 5, 4), plain(tokens, {0, 1000}, 5, 4);
  Prefetch ahead(windows, 20);
  std::vector<int32_t> a(20), b(20), expectedA(20), expectedB(20);
  for (uint64_t at : {0u, 4u, 8u, 12u, 100u, 104u, 104u, 0u, 0u, 0u, 4u, 197u, 201u}) {
    ahead.seek(at);
    plain.seek(at);
    ahead.next(a, b);
    plain.next(expectedA, expectedB);
    ASSERT_EQ(a, expectedA) << at;
    ASSERT_EQ(b, expectedB) << at;
    ASSERT_EQ(ahead.drawn(), at + 4);
  }
}

// What cannot be read is an error of the batch that needs it, not of the one before, and not of the thread's.
TEST(PrefetchTest, ErrorsComeWithTheirBatch) {
  Counted tokens(2000);
  RandomWindows windows(tokens, {0, 1000}, 5, 4);
  Prefetch ahead(windows, 20);
  std::vector<int32_t> a(20), b(20);
  ahead.next(a, b);
  tokens.broken = 0;
  ahead.seek(1000); // not what was read ahead
  EXPECT_ERROR(ahead.next(a, b), "cannot read token");
  tokens.broken = UINT64_MAX;
  ahead.next(a, b);
  EXPECT_EQ(ahead.drawn(), 1004u);
}

TEST(AllWindowsTest, CoversThePartAndPadsTheRest) {
  test::Folder folder;
  TextFile text(folder.write("text", countedUp(100)), 256);
  AllWindows windows(text, {90, 100});
  std::vector<int32_t> tokens(6), targets(6);
  EXPECT_EQ(windows.next(tokens, targets), 6);
  EXPECT_EQ(tokens, (std::vector<int32_t>{90, 91, 92, 93, 94, 95}));
  EXPECT_EQ(targets, (std::vector<int32_t>{91, 92, 93, 94, 95, 96}));
  EXPECT_EQ(windows.next(tokens, targets), 3);
  EXPECT_EQ(tokens, (std::vector<int32_t>{96, 97, 98, 0, 0, 0}));
  EXPECT_EQ(targets, (std::vector<int32_t>{97, 98, 99, ignored, ignored, ignored}));
  EXPECT_EQ(windows.next(tokens, targets), 0);
}

} // namespace
} // namespace burin::runtime
