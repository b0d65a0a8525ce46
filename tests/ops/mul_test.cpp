// mul: product with broadcasting, of f32 and i32.
#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {elementwise(call.in(0), call.in(1), [](double x, double y) { return x * y; })};
}

static std::vector<OpCase> cases() {
  auto op = [](Tensor a, Tensor b) { return mul(a, b); };
  const Draw integers{.lower = -50, .upper = 50, .dtype = Dtype::i32};
  return binaryCases(op) + named("i32", binaryCases(op, integers, integers, /*differentiable=*/false));
}

static const OpTest test("mul", reference, cases);

} // namespace burin::test
