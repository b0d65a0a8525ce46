// Published values of XXH64, and the same sum however the bytes come.
#include "data/checksum.h"

#include <gtest/gtest.h>

#include "support/program.h"

namespace burin::runtime {
namespace {

TEST(ChecksumTest, IsXxh64) {
  EXPECT_EQ(checksumOf(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(checksumOf("a"), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(checksumOf("abc"), 0x44BC2CF5AD770999u);
  EXPECT_EQ(checksumOf("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1u); // more than one block
}

TEST(ChecksumTest, PiecesDoNotMatter) {
  const std::string text = test::sampleText(1000);
  for (size_t piece : {1u, 3u, 31u, 32u, 33u, 64u, 999u}) {
    Checksum sum;
    for (size_t at = 0; at < text.size(); at += piece)
      sum.add(std::string_view(text).substr(at, piece));
    EXPECT_EQ(sum.value(), checksumOf(text)) << piece;
  }
}

TEST(ChecksumTest, EveryByteCounts) {
  std::string text = test::sampleText(100);
  const uint64_t original = checksumOf(text);
  for (char &byte : text) {
    byte ^= 1;
    EXPECT_NE(checksumOf(text), original);
    byte ^= 1;
  }
}

} // namespace
} // namespace burin::runtime
