// sqrt: of positive numbers.
#include <cmath>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {elementwise(call.in(0), [](double x) { return std::sqrt(x); })};
}

static std::vector<OpCase> cases() {
  return unaryCases([](Tensor x) { return sqrt(x); }, {.lower = 0.01, .upper = 50});
}

static const OpTest test("sqrt", reference, cases);

} // namespace burin::test
