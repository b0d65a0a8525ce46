// Texts as tokens; what is missing, too short or out of the vocabulary is said with both numbers.
#include "data/text_file.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/program.h"

namespace burin::runtime {
namespace {

TEST(TextFileTest, BytesAreTokens) {
  test::Folder folder;
  TextFile text(folder.write("text", std::string("a\0\xff", 3)), 256);
  EXPECT_EQ(text.size(), 3u);
  EXPECT_EQ(text.token(0), 'a');
  EXPECT_EQ(text.token(1), 0);
  EXPECT_EQ(text.token(2), 255);
}

TEST(TextFileTest, WhatIsNotATextIsRefused) {
  test::Folder folder;
  EXPECT_ERROR(TextFile(folder.file("none"), 256), "cannot open data file " + folder.file("none") + ": No such file");
  EXPECT_ERROR(TextFile(folder.file(""), 256), "is not a regular file");
  EXPECT_ERROR(TextFile("/dev/null", 256), "data file /dev/null is not a regular file");
  std::string path = folder.write("text", "plain \xc3\xa4");
  EXPECT_ERROR(TextFile(path, 128),
               "data file " + path + ": token id 195 at offset 6, but the model's vocabulary ends at 128");
}

// Both numbers are named: what is there and what it takes.
TEST(TextFileTest, TooShortTextsAreRefused) {
  test::Folder folder;
  TextFile empty(folder.write("empty", ""), 256);
  EXPECT_ERROR(split(empty, 0.1, 16), "is empty: have 0 tokens, need 17");
  TextFile small(folder.write("small", std::string(18, 'a')), 256);
  EXPECT_ERROR(split(small, 0.1, 17), "have 17 tokens for training, need 18 (the context of 17 and one more)");
  EXPECT_ERROR(split(small, 0.1, 16), "have 1 tokens for validation, need 2");
  TextFile enough(folder.write("enough", std::string(20, 'a')), 256);
  Parts parts = split(enough, 0.1, 17);
  EXPECT_EQ(parts.train.end, 18u);
  EXPECT_EQ(parts.valid.begin, 18u);
  EXPECT_EQ(parts.valid.end, 20u);
}

TEST(TextFileTest, FingerprintTellsTextsApart) {
  test::Folder folder;
  std::string content = test::sampleText(200'000);
  auto fingerprint = [&](const std::string &text) { return TextFile(folder.write("text", text), 256).fingerprint(); };
  uint64_t original = fingerprint(content);
  EXPECT_EQ(original, fingerprint(content));
  EXPECT_NE(original, fingerprint(content + ' '));
  content.front() ^= 1;
  EXPECT_NE(original, fingerprint(content));
  content.front() ^= 1;
  content.back() ^= 1;
  EXPECT_NE(original, fingerprint(content));
}

} // namespace
} // namespace burin::runtime
