// Windows stay inside their part, go on from a count, and cover a part exactly once.
#include "data/loader.h"

#include <gtest/gtest.h>

#include <set>

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
