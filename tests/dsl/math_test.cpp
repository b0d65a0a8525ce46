// The square root of constant evaluation, against the library's.
#include "support.h"

#include <cmath>

#include <gtest/gtest.h>

namespace burin {
namespace {

static_assert(squareRoot(1) == 1 && squareRoot(4) == 2 && squareRoot(1024) == 32 && squareRoot(0.25) == 0.5);

TEST(SquareRoot, IsExactToTheLastBitOrTheOneBefore) {
  for (double x : {1e-300, 1e-12, 0.003, 1.0 / 256, 0.9999999, 1.0000001, 2.0, 3.0, 32.0, 1e7, 1e299})
    EXPECT_NEAR(squareRoot(x), std::sqrt(x), 2.3e-16 * std::sqrt(x)) << x;
}

TEST(SquareRoot, TakesPositiveNumbersOnly) {
  EXPECT_THROW(squareRoot(0), ModelError);
  EXPECT_THROW(squareRoot(-1), ModelError);
  EXPECT_THROW(squareRoot(NAN), ModelError);
  EXPECT_THROW(squareRoot(INFINITY), ModelError);
}

} // namespace
} // namespace burin
