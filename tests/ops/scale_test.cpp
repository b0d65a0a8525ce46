// scale: a number of the declaration times x; a factor of 1 included.
#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  const double factor = call.real("factor");
  return {elementwise(call.in(0), [=](double x) { return factor * x; })};
}

static std::vector<OpCase> cases() {
  return unaryCases([](Tensor x) { return scale(x, -0.3); }) +
         named("by 1", unaryCases([](Tensor x) { return scale(x, 1); }));
}

static const OpTest test("scale", reference, cases);

} // namespace burin::test
