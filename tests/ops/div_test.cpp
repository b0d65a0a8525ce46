// div: quotient with broadcasting; the divisor stays away from 0.
#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {elementwise(call.in(0), call.in(1), [](double x, double y) { return x / y; })};
}

static std::vector<OpCase> cases() {
  return binaryCases([](Tensor a, Tensor b) { return div(a, b); }, {}, {.lower = 0.5, .upper = 3});
}

static const OpTest test("div", reference, cases);

} // namespace burin::test
