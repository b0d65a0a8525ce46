// swap_halves: exchanges the halves of the last dimension.
#include "tests/support/op_test.h"

namespace burin::test {

static Results reference(const Call &call) {
  Values y = call.in(0);
  const int64_t d = y.width();
  for (int64_t row = 0; row < y.rows(); ++row)
    for (int64_t i = 0; i < d; ++i)
      y[row * d + i] = call.in(0)[row * d + ((i + d / 2) % d)];
  return {y};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  for (int64_t n : {2, 6, 10, 14, 26, 32, 34, 62, 66, 130}) {
    const std::string type = "tensor<2x3x" + std::to_string(n) + "xf32>";
    cases.push_back({.name = type,
                     .operands = {{.shape = {2, 3, n}}},
                     .build = {},
                     .text = "func.func @op(%x: " + type + ") -> " + type + " { %y = burin.swap_halves %x : " + type +
                             "  return %y : " + type + " }"});
  }
  return cases;
}

static const OpTest test("swap_halves", reference, cases);

} // namespace burin::test
