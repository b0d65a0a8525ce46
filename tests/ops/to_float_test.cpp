// to_float: integers as floats.
#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {elementwise(call.in(0), [](double x) { return x; })};
}

static std::vector<OpCase> cases() {
  return unaryCases([](Tensor x) { return to_float(x); }, {.lower = -1000, .upper = 1000, .dtype = Dtype::i32},
                    /*differentiable=*/false);
}

static const OpTest test("to_float", reference, cases);

} // namespace burin::test
