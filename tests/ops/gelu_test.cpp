// gelu: by the error function and by tanh.
#include <cmath>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  const bool approximate = call.flag("approximate");
  return {elementwise(call.in(0), [=](double x) {
    if (approximate)
      return x / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
    return x / 2 * std::erfc(-x / std::sqrt(2.0));
  })};
}

static std::vector<OpCase> cases() {
  const Draw wide{.lower = -8, .upper = 8};
  return unaryCases([](Tensor x) { return gelu(x); }, wide) +
         named("tanh", unaryCases([](Tensor x) { return gelu(x, {.approximate = true}); }, wide));
}

static const OpTest test("gelu", reference, cases);

} // namespace burin::test
