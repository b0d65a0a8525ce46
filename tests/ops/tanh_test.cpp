// tanh: also far out, where it is 1.
#include <cmath>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {elementwise(call.in(0), [](double x) { return std::tanh(x); })};
}

static std::vector<OpCase> cases() {
  return unaryCases([](Tensor x) { return tanh(x); }) +
         named("wide", unaryCases([](Tensor x) { return tanh(x); }, {.lower = -30, .upper = 30}));
}

static const OpTest test("tanh", reference, cases);

} // namespace burin::test
