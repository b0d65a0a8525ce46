// greater_equal: 0 or 1 as i32, of f32 and i32; NaN compares as 0.
#include <limits>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {elementwise(call.in(0), call.in(1), [](double x, double y) { return x >= y ? 1.0 : 0.0; })};
}

static std::vector<OpCase> cases() {
  auto op = [](Tensor a, Tensor b) { return greater_equal(a, b); };
  // Few values, so that equal ones meet.
  const Draw integers{.lower = 0, .upper = 4, .dtype = Dtype::i32};
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  return binaryCases(op, {}, {}, /*differentiable=*/false) +
         named("i32", binaryCases(op, integers, integers, /*differentiable=*/false)) +
         std::vector<OpCase>{
             {.name = "NaN",
              .operands = {{.shape = {4}, .values = {nan, 1, nan, 1}}, {.shape = {4}, .values = {1, nan, nan, 1}}},
              .build = [=](auto &in) { return op(in[0], in[1]); },
              .differentiable = false}};
}

static const OpTest test("greater_equal", reference, cases);

} // namespace burin::test
