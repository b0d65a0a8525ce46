// constant: a number everywhere, of f32 and i32.
#include "tests/support/op_test.h"

namespace burin::test {

static Results reference(const Call &call) { return {Values(call.resultShape(), call.real("value"))}; }

static std::vector<OpCase> cases() {
  auto text = [](const std::string &value, const std::string &type) {
    return OpCase{.name = type,
                  .operands = {},
                  .build = {},
                  .text = "func.func @op() -> " + type + " { %y = burin.constant " + value + " : " + type +
                          "  return %y : " + type + " }"};
  };
  return {text("-2.5", "tensor<3x17xf32>"), text("7.0", "tensor<33xi32>"), text("0.5", "tensor<f32>")};
}

static const OpTest test("constant", reference, cases);

} // namespace burin::test
