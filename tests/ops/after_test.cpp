// after: the second operand, whatever the first holds.
#include "tests/support/op_test.h"

namespace burin::test {

static Results reference(const Call &call) { return {call.in(1)}; }

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  for (int64_t n : oddSizes) {
    const std::string x = "tensor<5x" + std::to_string(n) + "xf32>";
    cases.push_back({.name = x,
                     .operands = {{.shape = {3}}, {.shape = {5, n}}},
                     .build = {},
                     .text = "func.func @op(%done: tensor<3xf32>, %x: " + x + ") -> " + x +
                             " {\n  %y = burin.after %done, %x : tensor<3xf32>, " + x + "\n  return %y : " + x +
                             "\n}"});
  }
  return cases;
}

static const OpTest test("after", reference, cases);

} // namespace burin::test
