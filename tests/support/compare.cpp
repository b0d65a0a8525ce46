// The measure of compare.h.
#include "tests/support/compare.h"

#include <cmath>
#include <cstdio>
#include <limits>

#include "gtest/gtest.h"

namespace burin::test {

static std::string format(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", x);
  return text;
}

Difference difference(const Values &actual, const Values &expected, double tolerance) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (actual.shape != expected.shape)
    return {infinity, 0, "shape " + describe(actual.shape) + ", expected " + describe(expected.shape)};
  double squares = 0;
  int64_t finite = 0;
  for (double x : expected.data)
    if (std::isfinite(x)) {
      squares += x * x;
      ++finite;
    }
  const double rms = finite > 0 ? std::sqrt(squares / static_cast<double>(finite)) : 0;
  Difference worst;
  for (int64_t i = 0; i < actual.size(); ++i) {
    const double x = actual[i], y = expected[i];
    double error = 0;
    if (std::isnan(x) || std::isnan(y))
      error = std::isnan(x) && std::isnan(y) ? 0 : infinity;
    else if (std::isinf(x) || std::isinf(y))
      error = x == y ? 0 : infinity;
    else if (x != y)
      error = std::abs(x - y) / (std::abs(y) + rms);
    if (error > worst.error || i == 0) {
      worst.error = error;
      worst.at = i;
    }
  }
  if (actual.size() == 0)
    return worst;
  std::string index;
  for (int64_t i : unravel(actual.shape, worst.at))
    index += (index.empty() ? "" : ", ") + std::to_string(i);
  worst.text = "worst element (" + index + ") of " + describe(actual.shape) + ": " + format(actual[worst.at]) +
               ", expected " + format(expected[worst.at]) + "; error " + format(worst.error) + ", tolerance " +
               format(tolerance);
  return worst;
}

bool expectClose(const Values &actual, const Values &expected, double tolerance, const std::string &what) {
  Difference seen = difference(actual, expected, tolerance);
  if (seen.error <= tolerance)
    return true;
  ADD_FAILURE() << what << ": " << seen.text;
  return false;
}

} // namespace burin::test
