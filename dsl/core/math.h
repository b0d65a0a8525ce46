// The little mathematics that declarations need and that <cmath> does not offer in constant evaluation.
#pragma once

#include "error.h"

namespace burin {

// Newton's iteration, from above, until it no longer falls: exact to the last bit or the one before.
constexpr double squareRoot(double x) {
  check(x > 0 && x < 1e300, "a square root needs a positive number", "number", x);
  double root = x > 1 ? x : 1;
  while (true) {
    const double next = (root + x / root) / 2;
    if (!(next < root))
      return root;
    root = next;
  }
}

} // namespace burin
