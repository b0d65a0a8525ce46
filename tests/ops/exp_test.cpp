// exp: also where it underflows to 0 and where the result nearly overflows.
#include <cmath>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {elementwise(call.in(0), [](double x) { return std::exp(x); })};
}

static std::vector<OpCase> cases() {
  return unaryCases([](Tensor x) { return exp(x); }) +
         named("steep", {{.name = "7",
                          .operands = {{.shape = {7}, .values = {-200, -104, -87, -1e-6, 0, 40, 88}}},
                          .build = [](auto &in) { return exp(in[0]); },
                          .differentiable = false}});
}

static const OpTest test("exp", reference, cases);

} // namespace burin::test
