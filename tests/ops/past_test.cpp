// past: the identity while training.
#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {elementwise(call.in(0), [](double x) { return x; })};
}

static std::vector<OpCase> cases() {
  return unaryCases([](Tensor x) { return past(x); });
}

static const OpTest test("past", reference, cases);

} // namespace burin::test
