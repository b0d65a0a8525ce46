// Training equals the algorithm done the slow way, whatever the threads, the files and their order.
#include "text/bpe_train.h"

#include <gtest/gtest.h>

#include <map>

#include "support/expect_error.h"
#include "support/program.h"
#include "support/random_text.h"

namespace burin::runtime {
namespace {

using Merges = std::vector<std::pair<std::string, std::string>>;

Merges mergesOf(const BpeModel &model) {
  Merges merges;
  for (auto [left, right] : model.merges)
    merges.emplace_back(model.tokens[static_cast<size_t>(left)], model.tokens[static_cast<size_t>(right)]);
  return merges;
}

// Written the slow way on purpose: count all pairs, take the greatest, merge it everywhere, begin again.
Merges slow(const PreTokenCounts &counts, size_t limit) {
  std::vector<std::pair<std::vector<std::string>, uint64_t>> words;
  for (const auto &[text, count] : counts) {
    std::vector<std::string> tokens;
    for (char byte : text)
      tokens.emplace_back(1, byte);
    words.emplace_back(tokens, count);
  }
  Merges merges;
  while (merges.size() < limit) {
    std::map<std::pair<std::string, std::string>, uint64_t> pairs;
    for (const auto &[tokens, count] : words)
      for (size_t i = 0; i + 1 < tokens.size(); ++i)
        pairs[{tokens[i], tokens[i + 1]}] += count;
    if (pairs.empty())
      break;
    auto best = pairs.begin();
    for (auto at = pairs.begin(); at != pairs.end(); ++at)
      if (at->second >= best->second) // the map is in order, so the last of equals is the greatest
        best = at;
    merges.push_back(best->first);
    for (auto &[tokens, count] : words) {
      std::vector<std::string> merged;
      for (size_t i = 0; i < tokens.size(); ++i) {
        if (i + 1 < tokens.size() && std::pair(tokens[i], tokens[i + 1]) == merges.back())
          merged.push_back(tokens[i] + tokens[i + 1]), ++i;
        else
          merged.push_back(tokens[i]);
      }
      tokens = merged;
    }
  }
  return merges;
}

TEST(BpeTrain, EqualsTheAlgorithmOnTenThousandSmallCorpora) {
  test::RandomText random(1);
  for (int i = 0; i < 10'000; ++i) {
    // Few letters and small counts: ties everywhere, and runs such as `aaa`.
    PreTokenCounts counts;
    std::map<std::string, uint64_t> distinct;
    for (size_t words = 1 + random.below(6); words > 0; --words) {
      std::string word;
      for (size_t size = 1 + random.below(9); size > 0; --size)
        word += random.below(30) ? "ab\xC3\xBC"[random.below(4)] : static_cast<char>(random.below(256));
      distinct[word] += 1 + random.below(3);
    }
    counts.assign(distinct.begin(), distinct.end());
    const size_t limit = 1 + random.below(24);
    BpeModel model = learnMerges(counts, {.vocab = 256 + static_cast<int64_t>(limit)});
    ASSERT_EQ(mergesOf(model), slow(counts, limit)) << "corpus " << i;
  }
}

struct BpeTrainFiles : testing::Test {
  test::Folder folder;
  std::string text(uint32_t seed, size_t size) {
    test::RandomText random(seed);
    std::string all;
    while (all.size() < size)
      all += random.unicode(20) + " the words of it " + (random.below(3) ? "" : "<|x|>");
    return all;
  }
};

TEST_F(BpeTrainFiles, NeitherThreadsNorOrderNorMemoryMatter) {
  const std::string a = folder.write("a", text(1, 200'000)), b = folder.write("b", text(2, 300'000));
  TrainBpe options{.vocab = 500, .specials = {"<|x|>", "<|y|>"}};
  const BpeModel one = trainBpe({a, b}, options);
  EXPECT_EQ(one.tokens.size(), 500u);
  EXPECT_EQ(one.tokens[499], "<|y|>");
  for (const BpeModel &other :
       {trainBpe({b, a}, {.vocab = 500, .specials = {"<|x|>", "<|y|>"}, .threads = 3}),
        trainBpe({b, a}, {.vocab = 500, .specials = {"<|x|>", "<|y|>"}, .threads = 2, .memory = 3 << 20})}) {
    EXPECT_EQ(other.merges, one.merges);
    EXPECT_EQ(other.tokens, one.tokens);
  }
  for (const std::string &token : one.tokens)
    EXPECT_TRUE(token.find("<|x") == token.npos || token == "<|x|>") << token;
}

// Whether the pre-tokens fit depends on the texts alone, not on how many threads hold some of the same.
TEST_F(BpeTrainFiles, WhatFitsWithOneThreadFitsWithMore) {
  const std::string a = folder.write("a", text(5, 1'000'000));
  auto fits = [&](uint64_t memory, int threads) {
    try {
      trainBpe({a}, {.vocab = 300, .threads = threads, .memory = memory});
      return true;
    } catch (const std::exception &error) {
      EXPECT_NE(std::string(error.what()).find("that --memory allows"), std::string::npos) << error.what();
      return false;
    }
  };
  uint64_t most = 16 << 20, least = 256 << 10; // fits; does not
  ASSERT_TRUE(fits(most, 1));
  ASSERT_FALSE(fits(least, 1));
  while (most - least > 1)
    (fits((least + most) / 2, 1) ? most : least) = (least + most) / 2;
  for (int again = 0; again < 5; ++again)
    for (int threads : {2, 3, 7}) {
      EXPECT_TRUE(fits(most, threads)) << threads << " threads, " << most << " bytes";
      EXPECT_FALSE(fits(least, threads)) << threads << " threads, " << least << " bytes";
    }
}

TEST_F(BpeTrainFiles, OtherPatternsAreCutAtSpecialTokens) {
  const std::string a = folder.write("a", text(3, 300'000));
  TrainBpe options{.vocab = 400, .specials = {"<|x|>"}, .pattern = patternOf("cl100k")};
  const BpeModel one = trainBpe({a}, options);
  options.threads = 3;
  options.memory = 3 << 20;
  EXPECT_EQ(trainBpe({a}, options).merges, one.merges);
  options.memory = 1 << 20;
  options.specials = {"<|none|>"};
  EXPECT_ERROR(trainBpe({a}, options), "there is no place to cut the text in ");
}

TEST_F(BpeTrainFiles, EndsEarlyWhereNoPairIsLeft) {
  const BpeModel model = trainBpe({folder.write("a", "ab ab")}, {.vocab = 1000});
  EXPECT_EQ(mergesOf(model), (Merges{{"a", "b"}, {" ", "ab"}}));
  EXPECT_EQ(trainBpe({folder.write("b", "")}, {.vocab = 1000}).merges.size(), 0u);
}

TEST_F(BpeTrainFiles, ErrorsNameWhatIsWrong) {
  const std::string a = folder.write("a", text(4, 2'000'000));
  EXPECT_ERROR(trainBpe({a}, {.vocab = 200}), "the vocabulary must have 256 to 4194304 tokens");
  EXPECT_ERROR(trainBpe({a}, {.vocab = 300, .specials = {"x"}}), "'x' is one byte");
  EXPECT_ERROR(trainBpe({a}, {.vocab = 300, .specials = {"<s>", "<s>"}}), "'<s>' is given twice");
  EXPECT_ERROR(trainBpe({folder.file("none")}, {.vocab = 300}), "No such file");
  EXPECT_ERROR(trainBpe({folder.file(".")}, {.vocab = 300}), "is not a regular file");
  EXPECT_ERROR(trainBpe({a}, {.vocab = 300, .memory = 100'000}), "more than the 100000 bytes that --memory allows");
}

} // namespace
} // namespace burin::runtime
