// How errors read at run time. That they are compile errors in constant evaluation is tested in tests/errors/dsl.
#include "support.h"

#include <gtest/gtest.h>

namespace burin {
namespace {

// A rule that holds is free of effect in constant evaluation.
static_assert((check(true, "never said"), true));

TEST(ModelError, SaysPlaceSentenceAndNumbers) {
  try {
    checkAt(Place("models/gpt.cpp", 41, 15), false, "the heads must divide the width", "heads", 7, "width", 512);
    FAIL();
  } catch (const ModelError &error) {
    EXPECT_STREQ(error.what(),
                 "models/gpt.cpp:41:15: error: the heads must divide the width: heads is 7, width is 512");
  }
}

TEST(ModelError, WithoutAPlaceGetsTheOneOfWhoeverApplies) {
  const ModelError error("wrong");
  EXPECT_STREQ(error.what(), "error: wrong");
  EXPECT_STREQ(error.at(Place("m.cpp", 1, 2)).what(), "m.cpp:1:2: error: wrong");
}

// The narrower place, which is the first, stays.
TEST(ModelError, KeepsThePlaceItHas) {
  const ModelError error("wrong", Place("m.cpp", 1, 2));
  EXPECT_STREQ(error.at(Place("m.cpp", 9, 1)).what(), "m.cpp:1:2: error: wrong");
}

TEST(ModelError, DescribesEachKindOfValue) {
  EXPECT_EQ(
      test::messageOf([] {
        check(false, "seen", "shape", Shape{2, 3}, "dtype", Dtype::i32, "flag", true, "name", std::string_view("w"));
      }),
      "seen: shape is [2, 3], dtype is i32, flag is true, name is w");
}

} // namespace
} // namespace burin
