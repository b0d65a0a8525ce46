// gelu_slope: the derivative of both forms of gelu.
#include <cmath>

#include "tests/support/op_test.h"

namespace burin::test {

static Results reference(const Call &call) {
  constexpr double pi = 3.14159265358979323846;
  const bool approximate = call.flag("approximate");
  return {elementwise(call.in(0), [=](double x) {
    if (!approximate)
      return std::erfc(-x / std::sqrt(2.0)) / 2 + x * std::exp(-x * x / 2) / std::sqrt(2 * pi);
    const double c = std::sqrt(2 / pi), t = std::tanh(c * (x + 0.044715 * x * x * x));
    return (1 + t) / 2 + x / 2 * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x);
  })};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  for (const char *form : {"", " approximate"})
    for (int64_t n : oddSizes) {
      const std::string type = "tensor<3x" + std::to_string(n) + "xf32>";
      cases.push_back({.name = type + form,
                       .operands = {{.shape = {3, n}, .lower = -8, .upper = 8}},
                       .build = {},
                       .text = "func.func @op(%x: " + type + ") -> " + type + " { %y = burin.gelu_slope %x" + form +
                               " : " + type + "  return %y : " + type + " }"});
    }
  return cases;
}

static const OpTest test("gelu_slope", reference, cases);

} // namespace burin::test
