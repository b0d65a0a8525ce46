// Bytes and characters survive the way to ids and back.
#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/expect_error.h"

namespace burin::runtime {
namespace {

TEST(ByteTokenizerTest, EveryByteComesBack) {
  std::string text;
  for (int i = 0; i < 256; ++i)
    text += static_cast<char>(i);
  ByteTokenizer tokenizer;
  std::vector<int32_t> ids = tokenizer.encode(text);
  EXPECT_EQ(ids[200], 200);
  EXPECT_EQ(tokenizer.decode(ids), text);
  EXPECT_TRUE(tokenizer.encode("").empty());
}

TEST(ByteTokenizerTest, IdsWithoutTextBecomeTheReplacementCharacter) {
  EXPECT_EQ(ByteTokenizer().decode(std::vector<int32_t>{'a', 256, -1}), "a\xEF\xBF\xBD\xEF\xBF\xBD");
}

// In the order of their code points, one to four bytes long.
TEST(CharacterTokenizerTest, EveryCharacterComesBack) {
  const std::string text = "b\xC3\xA4\xE2\x82\xAC a\xF0\x9F\x98\x80\n";
  CharacterTokenizer tokenizer(text, "it");
  EXPECT_EQ(tokenizer.vocab(), 7);
  EXPECT_EQ(tokenizer.encode(text), (std::vector<int32_t>{3, 4, 5, 1, 2, 6, 0}));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{7, -1}), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(tokenizer.bytes(5), 3u);
  EXPECT_EQ(tokenizer.start(), "\n");
  EXPECT_EQ(CharacterTokenizer("ba", "it").start(), "a");
}

TEST(CharacterTokenizerTest, ACheckpointBringsItBack) {
  const std::string text = "t\xC3\xA4gl\"ich\n";
  std::unique_ptr<Tokenizer> back = restoredTokenizer(CharacterTokenizer(text, "it").saved());
  EXPECT_EQ(back->vocab(), 9);
  EXPECT_EQ(back->decode(back->encode(text)), text);
  EXPECT_EQ(restoredTokenizer(ByteTokenizer().saved())->vocab(), 256);
}

// Truncated, overlong, surrogate, out of range, or a continuation without a beginning.
TEST(CharacterTokenizerTest, WhatIsNotUtf8IsRefused) {
  for (const char *text : {"a\xC3", "a\xC0\x80", "a\xE0\x80\x80", "a\xED\xA0\x80", "a\xF4\x90\x80\x80", "a\x80",
                           "a\xFF", "a\xC3(", "a\xE2\x82(", "a\xF0\x80\x80\x80"})
    EXPECT_ERROR(CharacterTokenizer(text, "it"), "at offset 1 begins no UTF-8 character");
}

TEST(CharacterTokenizerTest, AnUnknownCharacterIsNamed) {
  EXPECT_ERROR(CharacterTokenizer("abc", "it").encode("ab\xC3\xA4", "the prompt"),
               "the prompt has the character '\xC3\xA4' (U+00E4) at offset 2, which is not among the 3 characters");
}

} // namespace
} // namespace burin::runtime
