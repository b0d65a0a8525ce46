// Comparing tensors in a way that says where they differ most.
#pragma once

#include <string>

#include "tests/support/values.h"

namespace burin::test {

// How far two tensors are apart: element by element |actual - expected| / (|expected| + rms(expected)), the worst of
// them. Infinite where one is finite or NaN and the other is not alike, or where the shapes differ.
struct Difference {
  double error = 0;
  int64_t at = 0;   // of the worst element, counted row by row
  std::string text; // "worst element (1, 3): 0.25, expected 0.5; error 0.5, tolerance 1e-06"
};
Difference difference(const Values &actual, const Values &expected, double tolerance);

// A googletest failure, headed `what`, where the difference exceeds the tolerance. True where it does not.
bool expectClose(const Values &actual, const Values &expected, double tolerance, const std::string &what);

} // namespace burin::test
