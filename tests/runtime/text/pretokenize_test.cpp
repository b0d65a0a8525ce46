// The hand-written pattern is the regular expression, and text that comes in pieces is cut like the whole.
#include "text/pretokenize.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/random_text.h"
#include "text/unicode_ranges.h"

namespace burin::runtime {
namespace {

using Pieces = std::vector<std::string>;

Pieces byHand(std::string_view text) {
  Pieces pieces;
  eachGpt2PreToken(text, 0, true, [&](std::string_view piece) { pieces.emplace_back(piece); });
  return pieces;
}

Pieces byRegex(const Regex &regex, std::string_view text) {
  Pieces pieces;
  auto matcher = regex.matcher();
  eachRegexPreToken(*matcher, text, 0, true, [&](std::string_view piece) { pieces.emplace_back(piece); });
  return pieces;
}

TEST(Pretokenize, Gpt2Examples) {
  EXPECT_EQ(byHand("I'll say:  don't\n\n x"), (Pieces{"I", "'ll", " say", ":", " ", " don", "'t", "\n\n", " x"}));
  EXPECT_EQ(byHand("a  "), (Pieces{"a", "  "}));
  EXPECT_EQ(byHand("\n\na"), (Pieces{"\n", "\n", "a"}));
  EXPECT_EQ(byHand(" 12a\xFF!"), (Pieces{" 12", "a", "\xFF!"}));
  EXPECT_EQ(byHand(""), Pieces{});
}

TEST(Pretokenize, HandWrittenEqualsPcre2OnRandomUnicode) {
  const Regex regex(gpt2Pattern, "it");
  test::RandomText random(1);
  for (int i = 0; i < 30'000; ++i) {
    std::string text = random.unicode(1 + random.below(24));
    ASSERT_EQ(byHand(text), byRegex(regex, text)) << text;
  }
}

// Every character that Unicode had when the tables were made is of the same class here and in PCRE2.
TEST(Pretokenize, EveryCharacterIsOfItsClass) {
  const Regex letters(R"(\p{L})", "it"), numbers(R"(\p{N})", "it"), spaces(R"(\s)", "it"), assigned(R"(\P{Cn})", "it");
  auto letter = letters.matcher(), number = numbers.matcher(), space = spaces.matcher(), any = assigned.matcher();
  size_t newer = 0;
  for (char32_t code = 0; code < 0x110000; ++code) {
    if (code >= 0xD800 && code < 0xE000)
      continue;
    std::string text;
    appendUtf8(text, code);
    CharacterClass expected = letter->next(text, 0, true)   ? CharacterClass::letter
                              : number->next(text, 0, true) ? CharacterClass::number
                              : space->next(text, 0, true)  ? CharacterClass::space
                                                            : CharacterClass::other;
    CharacterClass actual = CharacterClasses::get()[code];
    if (actual == CharacterClass::other && expected != actual && any->next(text, 0, true))
      ++newer; // a later PCRE2 knows more characters
    else
      ASSERT_EQ(actual, expected) << "U+" << std::hex << static_cast<uint32_t>(code);
  }
  RecordProperty("characters_newer_than_the_tables", static_cast<int>(newer));
  EXPECT_LT(newer, 20'000u);
}

// What is handed out before the text is complete is right whatever follows.
TEST(Pretokenize, PiecesAreCertainBeforeTheTextIsComplete) {
  test::RandomText random(2);
  for (const char *name : {"gpt2", "cl100k", "o200k"}) {
    const Regex regex(patternOf(name), "it");
    const bool gpt2 = isGpt2Pattern(patternOf(name));
    for (int i = 0; i < 3000; ++i) {
      const std::string text = random.unicode(1 + random.below(20)), more = text + random.unicode(5);
      const Pieces whole = gpt2 ? byHand(more) : byRegex(regex, more);
      Pieces early;
      auto take = [&](std::string_view piece) { early.emplace_back(piece); };
      auto matcher = regex.matcher();
      if (gpt2)
        eachGpt2PreToken(text, 0, false, take);
      else
        eachRegexPreToken(*matcher, text, 0, false, take);
      ASSERT_LE(early.size(), whole.size());
      ASSERT_TRUE(std::equal(early.begin(), early.end(), whole.begin())) << more;
    }
  }
}

TEST(Pretokenize, TextWithoutAMatchIsAPieceOfItsOwn) {
  EXPECT_EQ(byRegex(Regex("[a-z]+", "it"), "ab12cd\xFF"), (Pieces{"ab", "12", "cd", "\xFF"}));
}

TEST(Pretokenize, PatternsThatCannotBeUsedAreNamed) {
  EXPECT_ERROR(Regex("a(b", "t.json"), "t.json: the pattern is no regular expression that PCRE2 takes: missing");
  EXPECT_ERROR(Regex("a*", "t.json"), "t.json: the pattern 'a*' matches where there is no text");
  // A million steps for a short text are refused, not waited for.
  Regex slow("(?:a|a|aa)+[bc]", "t.json");
  EXPECT_ERROR(slow.matcher()->next(std::string(300, 'a'), 0, true), "t.json: the pattern cannot be matched");
}

} // namespace
} // namespace burin::runtime
