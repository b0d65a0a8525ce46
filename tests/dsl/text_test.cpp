// Text: short names that both compilers build in constant evaluation.
#include "support.h"

#include <gtest/gtest.h>

namespace burin {
namespace {

using test::messageOf;

static_assert(Text("layers").dotted(0).dotted("attn") == "layers.0.attn");
static_assert(Text("layers").dotted(1234567890) == "layers.1234567890");
static_assert(Text().dotted("lm_head") == "lm_head" && Text("lm_head").dotted("") == "lm_head");
static_assert(Text("a") != Text("b") && Text("a").view().size() == 1 && Text().empty());

// A name fills its room to the last character, and one more is an error.
TEST(Text, LongNamesAreRefused) {
  EXPECT_EQ(Text(std::string(Text::capacity, 'x')).view().size(), 95u);
  EXPECT_EQ(messageOf([] { Text(std::string(Text::capacity + 1, 'x')); }),
            "a name with its scope may have at most 95 characters");
}

TEST(Text, IndicesAreNotNegative) {
  EXPECT_EQ(messageOf([] { Text("layers").dotted(-1); }), "an index in a name must not be negative: index is -1");
}

} // namespace
} // namespace burin
