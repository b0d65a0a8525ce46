// log: of positive numbers, small and large.
#include <cmath>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {elementwise(call.in(0), [](double x) { return std::log(x); })};
}

static std::vector<OpCase> cases() {
  return unaryCases([](Tensor x) { return log(x); }, {.lower = 0.01, .upper = 50});
}

static const OpTest test("log", reference, cases);

} // namespace burin::test
