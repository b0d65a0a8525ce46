// swap_pairs: exchanges the elements 2i and 2i + 1 of the last dimension.
#include "tests/support/op_test.h"

namespace burin::test {

static Results reference(const Call &call) {
  Values y = call.in(0);
  const int64_t d = y.width();
  for (int64_t row = 0; row < y.rows(); ++row)
    for (int64_t i = 0; i < d; ++i)
      y[row * d + i] = call.in(0)[row * d + (i ^ 1)];
  return {y};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  for (int64_t n : {2, 6, 10, 14, 26, 32, 34, 62, 66, 130}) {
    const std::string type = "tensor<2x3x" + std::to_string(n) + "xf32>";
    cases.push_back({.name = type,
                     .operands = {{.shape = {2, 3, n}}},
                     .build = {},
                     .text = "func.func @op(%x: " + type + ") -> " + type + " { %y = burin.swap_pairs %x : " + type +
                             "  return %y : " + type + " }"});
  }
  return cases;
}

static const OpTest test("swap_pairs", reference, cases);

} // namespace burin::test
