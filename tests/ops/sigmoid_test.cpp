// sigmoid: also far out on both sides.
#include <cmath>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {elementwise(call.in(0), [](double x) { return 1 / (1 + std::exp(-x)); })};
}

static std::vector<OpCase> cases() {
  return unaryCases([](Tensor x) { return sigmoid(x); }) +
         named("wide", unaryCases([](Tensor x) { return sigmoid(x); }, {.lower = -60, .upper = 60}));
}

static const OpTest test("sigmoid", reference, cases);

} // namespace burin::test
