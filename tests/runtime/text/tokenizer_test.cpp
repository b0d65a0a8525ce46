// Bytes survive the way to ids and back.
#include "text/tokenizer.h"

#include <gtest/gtest.h>

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

} // namespace
} // namespace burin::runtime
