// rsqrt: 1 / sqrt(x) of positive numbers.
#include <cmath>

#include "tests/support/op_test.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {elementwise(call.in(0), [](double x) { return 1 / std::sqrt(x); })};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  for (int64_t n : oddSizes) {
    const std::string type = "tensor<3x" + std::to_string(n) + "xf32>";
    cases.push_back({.name = type,
                     .operands = {{.shape = {3, n}, .lower = 0.01, .upper = 50}},
                     .build = {},
                     .text = "func.func @op(%x: " + type + ") -> " + type + " { %y = burin.rsqrt %x : " + type +
                             "  return %y : " + type + " }"});
  }
  return cases;
}

static const OpTest test("rsqrt", reference, cases);

} // namespace burin::test
