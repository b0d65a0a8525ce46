// relu.
#include <algorithm>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {elementwise(call.in(0), [](double x) { return std::max(x, 0.0); })};
}

static std::vector<OpCase> cases() {
  return unaryCases([](Tensor x) { return relu(x); });
}

static const OpTest test("relu", reference, cases);

} // namespace burin::test
