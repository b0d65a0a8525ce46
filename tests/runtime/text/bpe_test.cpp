// Encoding equals the definition done the slow way, in pieces and by several threads too; any bytes come back.
#include "text/bpe.h"

#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <nlohmann/json.hpp>

#include "support/expect_error.h"
#include "support/random_text.h"
#include "text/bpe_train.h"

namespace burin::runtime {
namespace {

// A tokenizer learnt from random text: its merges are many and short.
BpeTokenizer learnt(uint32_t seed, const std::string &pattern = gpt2Pattern, int64_t merges = 200) {
  test::RandomText random(seed);
  PreTokenCounts counts;
  while (counts.size() < 300)
    if (std::string text = random.unicode(1 + random.below(6)); text.find("<|") == text.npos) // which are special here
      counts.emplace_back(text, 1 + random.below(9));
  std::vector<std::string> specials = {"<|x|>", "<|x|><|y|>", "<|y|>", "<|endoftext|>"};
  return BpeTokenizer(learnMerges(counts, {.vocab = 256 + merges + 4, .specials = specials, .pattern = pattern}), "it");
}

// Written the slow way on purpose: the definition, one merge after the other.
std::vector<int32_t> slowPiece(const BpeModel &model, std::string_view piece) {
  std::vector<int32_t> ids;
  for (unsigned char byte : piece)
    ids.push_back(byte); // learnt tokenizers begin with the bytes
  while (true) {
    size_t best = model.merges.size(), where = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      auto at = std::find(model.merges.begin(), model.merges.end(), std::pair(ids[i], ids[i + 1]));
      if (static_cast<size_t>(at - model.merges.begin()) < best) {
        best = static_cast<size_t>(at - model.merges.begin());
        where = i;
      }
    }
    if (best == model.merges.size())
      return ids;
    ids[where] = 256 + static_cast<int32_t>(best);
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(where) + 1);
  }
}

std::vector<int32_t> slow(const BpeTokenizer &tokenizer, std::string_view text) {
  const BpeModel &model = tokenizer.model();
  std::vector<int32_t> ids;
  auto plain = [&](std::string_view part) {
    eachGpt2PreToken(part, 0, true, [&](std::string_view piece) {
      for (int32_t id : slowPiece(model, piece))
        ids.push_back(id);
    });
  };
  size_t from = 0;
  for (size_t at = 0; at < text.size();) {
    int32_t found = -1;
    for (int32_t id : model.specials) {
      const std::string &special = model.tokens[static_cast<size_t>(id)];
      if (text.substr(at).starts_with(special) &&
          (found < 0 || special.size() > model.tokens[static_cast<size_t>(found)].size()))
        found = id;
    }
    if (found < 0) {
      ++at;
      continue;
    }
    plain(text.substr(from, at - from));
    ids.push_back(found);
    from = at += model.tokens[static_cast<size_t>(found)].size();
  }
  plain(text.substr(from));
  return ids;
}

TEST(Bpe, EqualsTheDefinition) {
  const BpeTokenizer tokenizer = learnt(1);
  test::RandomText random(2);
  for (int i = 0; i < 500; ++i) {
    std::string text = random.any(1 + random.below(60));
    if (i % 10 == 0)
      text += std::string(100, "ab !"[random.below(4)]); // the heap's way
    ASSERT_EQ(tokenizer.encode(text), slow(tokenizer, text)) << text;
  }
}

TEST(Bpe, AnyBytesComeBack) {
  const BpeTokenizer tokenizer = learnt(3);
  test::RandomText random(4);
  for (int i = 0; i < 3000; ++i) {
    std::string text = random.any(random.below(80));
    for (Specials specials : {Specials::allow, Specials::plain})
      ASSERT_EQ(tokenizer.decode(tokenizer.encode(text, "it", specials)), text);
  }
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{'a', -1, 1 << 30, 'b'}), "a\xEF\xBF\xBD\xEF\xBF\xBD"
                                                                           "b");
}

TEST(Bpe, AStreamEqualsTheWhole) {
  test::RandomText random(5);
  for (const char *pattern : {"gpt2", "cl100k", "(?<=a)b+|\\p{L}+|\\s+|[^\\s\\p{L}]+"}) {
    const BpeTokenizer tokenizer = learnt(6, patternOf(pattern));
    for (int i = 0; i < 1500; ++i) {
      const std::string text = random.any(random.below(120));
      const Specials specials = random.below(4) ? Specials::allow : Specials::plain;
      auto stream = tokenizer.stream("it", specials);
      std::vector<int32_t> ids;
      for (size_t at = 0; at < text.size();) {
        size_t size = std::min(text.size() - at, random.below(random.below(3) ? 5 : 60));
        stream->feed(std::string_view(text).substr(at, size), ids);
        at += size;
      }
      stream->finish(ids);
      ASSERT_EQ(ids, tokenizer.encode(text, "it", specials)) << pattern << ": " << text;
    }
  }
}

// A border is one whatever follows it.
TEST(Bpe, PartsBetweenBordersAreEncodedApart) {
  test::RandomText random(7);
  for (const char *pattern : {"gpt2", "cl100k"}) {
    const BpeTokenizer tokenizer = learnt(8, patternOf(pattern));
    size_t found = 0;
    for (int i = 0; i < 3000; ++i) {
      const std::string text = random.any(random.below(60)), whole = text + random.any(10);
      auto border = tokenizer.border(text, random.below(text.size() + 1));
      if (!border)
        continue;
      ++found;
      std::vector<int32_t> ids = tokenizer.encode(whole.substr(0, *border)),
                           rest = tokenizer.encode(whole.substr(*border));
      ids.insert(ids.end(), rest.begin(), rest.end());
      ASSERT_EQ(ids, tokenizer.encode(whole)) << whole << " at " << *border;
    }
    EXPECT_GT(found, 300u);
  }
}

TEST(Bpe, ThreadsGiveTheSameIds) {
  const BpeTokenizer tokenizer = learnt(9);
  test::RandomText random(10);
  std::string text;
  while (text.size() < 1'500'000)
    text += random.any(100) + " word word";
  EXPECT_EQ(encodeParallel(tokenizer, text, 3), tokenizer.encode(text));
}

TEST(Bpe, SpecialTokensFollowThePolicy) {
  const BpeTokenizer tokenizer = learnt(11);
  const auto id = [&](std::string_view text) { return tokenizer.encode(text).at(0); };
  EXPECT_EQ(tokenizer.bytesOf(id("<|x|><|y|>")), "<|x|><|y|>") << "the longest, not the first declared";
  EXPECT_TRUE(tokenizer.isSpecial(id("<|x|>")));
  EXPECT_EQ(tokenizer.endOfText(), id("<|endoftext|>"));
  for (int32_t plain : tokenizer.encode("a<|x|>", "it", Specials::plain))
    EXPECT_FALSE(tokenizer.isSpecial(plain));
  EXPECT_ERROR(tokenizer.encode("abc <|y|>", "the prompt", Specials::forbid),
               "the prompt has the special token '<|y|>' at offset 4, where only text is allowed");
  EXPECT_ERROR(encodeParallel(tokenizer, std::string(600'000, '.') + " <|y|>", 2, "it", Specials::forbid),
               "at offset 600001");
  auto stream = tokenizer.stream("it", Specials::forbid);
  std::vector<int32_t> ids;
  stream->feed("some words <", ids);
  EXPECT_ERROR(stream->feed("|y|> and more of them", ids), "'<|y|>' at offset 11");
}

double cpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Texts without any place to cut are no slower than others by more than the heap costs.
TEST(Bpe, AMillionEqualCharactersTakeNoTime) {
  for (const char *pattern : {"gpt2", "cl100k"}) {
    PreTokenCounts counts;
    for (char c : {'a', ' ', '\n', '^'})
      counts.emplace_back(std::string(64, c), 1000);
    const BpeTokenizer tokenizer(learnMerges(counts, {.vocab = 300, .pattern = patternOf(pattern)}), "it");
    for (char c : {'a', ' ', '\n', '^'}) {
      const std::string text(1'000'000, c);
      double begin = cpuSeconds();
      const std::vector<int32_t> ids = tokenizer.encode(text);
      EXPECT_EQ(ids.size(), text.size() / 64);
      auto stream = tokenizer.stream();
      std::vector<int32_t> streamed;
      for (size_t at = 0; at < text.size(); at += 1000)
        stream->feed(std::string_view(text).substr(at, 1000), streamed);
      stream->finish(streamed);
      EXPECT_EQ(streamed, ids);
      // Twice the work, and sanitizers; a quadratic way would take minutes.
      EXPECT_LT(cpuSeconds() - begin, 8) << c;
    }
  }
}

TEST(Bpe, ACheckpointBringsItBack) {
  for (const char *pattern : {"gpt2", "cl100k"}) {
    const BpeTokenizer tokenizer = learnt(12, patternOf(pattern));
    auto back = restoredTokenizer(nlohmann::json::parse(tokenizer.saved().dump()));
    EXPECT_EQ(back->hash(), tokenizer.hash());
    EXPECT_EQ(back->encode("the <|x|> of 42"), tokenizer.encode("the <|x|> of 42"));
  }
  EXPECT_NE(learnt(12).hash(), learnt(13).hash());
  EXPECT_ERROR(restoredTokenizer({{"kind", "words"}}), "of the kind 'words'");
}

TEST(DecodeStreamTest, HoldsIncompleteCharacters) {
  const ByteTokenizer bytes;
  for (auto mode : {DecodeStream::keep, DecodeStream::replace}) {
    DecodeStream stream(bytes, mode);
    auto feed = [&](int32_t id) { return stream.feed({&id, 1}); };
    EXPECT_EQ(feed(0xE2), "");
    EXPECT_EQ(feed(0x82), "");
    EXPECT_EQ(feed(0xAC), "\xE2\x82\xAC");
    EXPECT_EQ(feed(0xE2), "");
    EXPECT_EQ(feed('a'), mode == DecodeStream::keep ? "\xE2"
                                                      "a"
                                                    : "\xEF\xBF\xBD"
                                                      "a");
    EXPECT_EQ(feed(0xF0), "");
    EXPECT_EQ(stream.finish(), mode == DecodeStream::keep ? "\xF0" : "\xEF\xBF\xBD");
    EXPECT_EQ(stream.finish(), "");
  }
}

} // namespace
} // namespace burin::runtime
