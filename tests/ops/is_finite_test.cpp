// is_finite: 1 for numbers, 0 for infinities and NaN.
#include <cmath>
#include <limits>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {elementwise(call.in(0), [](double x) { return std::isfinite(x) ? 1.0 : 0.0; })};
}

static std::vector<OpCase> cases() {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  return unaryCases([](Tensor x) { return is_finite(x); }, {}, /*differentiable=*/false) +
         std::vector<OpCase>{{.name = "infinities and NaN",
                              .operands = {{.shape = {7}, .values = {1, infinity, -infinity, nan, -nan, 3e38, 0}}},
                              .build = [](auto &in) { return is_finite(in[0]); },
                              .differentiable = false}};
}

static const OpTest test("is_finite", reference, cases);

} // namespace burin::test
