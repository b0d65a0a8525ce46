// past: the identity while training.
#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {elementwise(call.in(0), [](double x) { return x; })};
}

static std::vector<OpCase> cases() {
  // Rows and their length are the last two dimensions: fewer have no past.
  std::vector<OpCase> cases;
  for (OpCase &test : unaryCases([](Tensor x) { return past(x); }))
    if (test.operands[0].shape.rank() >= 2)
      cases.push_back(std::move(test));
  return cases;
}

static const OpTest test("past", reference, cases);

} // namespace burin::test
