// Shape: dimensions, and NumPy's rule of broadcasting.
#include "support.h"

#include <gtest/gtest.h>

namespace burin {
namespace {

using test::messageOf;

static_assert(Shape{}.rank() == 0 && Shape{}.size() == 1);
static_assert(Shape{2, 3, 4}.size() == 24 && Shape{2, 3, 4}.back() == 4 && Shape{2, 3, 4}.back(1) == 3);
static_assert(Shape{2, 3} == Shape{2, 3} && Shape{2, 3} != Shape{3, 2} && Shape{2} != Shape{2, 1});
static_assert(Shape(Shape{2}).append(3) == Shape{2, 3});
static_assert(Shape{0, 2}.contains(2) && !Shape{0, 2}.contains(1));

// Aligned at the last dimension; a 1 or a missing dimension is repeated, on either side.
static_assert(broadcast({4, 3}, {4, 3}) == Shape{4, 3});
static_assert(broadcast({4, 3}, {3}) == Shape{4, 3});
static_assert(broadcast({3}, {4, 3}) == Shape{4, 3});
static_assert(broadcast({4, 1}, {1, 3}) == Shape{4, 3});
static_assert(broadcast({}, {4, 3}) == Shape{4, 3});
static_assert(broadcast({2, 1, 5, 1}, {7, 1, 3}) == Shape{2, 7, 5, 3});

TEST(Shape, ReadsAsAList) {
  EXPECT_EQ(describe(Shape{16, 128, 256}), "[16, 128, 256]");
  EXPECT_EQ(describe(Shape{}), "[]");
}

TEST(Shape, OnlyEqualDimensionsOrOnesBroadcast) {
  EXPECT_EQ(messageOf([] {
              (void)broadcast({4, 3}, {4});
            }),
            "shapes broadcast only where dimensions, aligned at the last, are equal or 1: a is [4, 3], b is [4]");
}

TEST(Shape, ADimensionThatIsNotThereIsAnError) {
  const Shape shape = {2, 3};
  EXPECT_EQ(messageOf([&] { (void)shape[2]; }), "a shape has no such dimension: index is 2, rank is 2");
  EXPECT_EQ(messageOf([&] { (void)shape[-1]; }), "a shape has no such dimension: index is -1, rank is 2");
  EXPECT_EQ(messageOf([&] { (void)Shape{}.back(); }), "the tensor has too few dimensions: rank is 0, rank needed is 1");
}

TEST(Shape, RankIsLimited) {
  EXPECT_EQ(messageOf([] { Shape{1, 2, 3, 4, 5, 6}.append(7); }), "a tensor has at most 6 dimensions");
}

} // namespace
} // namespace burin
