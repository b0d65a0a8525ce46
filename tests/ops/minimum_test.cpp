// minimum: the lesser of two, with broadcasting, of f32 and i32.
#include <algorithm>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {elementwise(call.in(0), call.in(1), [](double x, double y) { return std::min(x, y); })};
}

static std::vector<OpCase> cases() {
  auto op = [](Tensor a, Tensor b) { return minimum(a, b); };
  const Draw integers{.lower = -50, .upper = 50, .dtype = Dtype::i32};
  return binaryCases(op) + named("i32", binaryCases(op, integers, integers, /*differentiable=*/false));
}

static const OpTest test("minimum", reference, cases);

} // namespace burin::test
