// mask: minus infinity where nothing is kept; `keep` broadcasts over the scores.
#include <limits>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {elementwise(call.in(0), call.in(1),
                      [](double x, double keep) { return keep != 0 ? x : -std::numeric_limits<double>::infinity(); })};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  auto add = [&](const Shape &scores, const Shape &keep) {
    const std::vector<OpOperand> operands = {drawn(scores, {}),
                                             drawn(keep, {.lower = 0, .upper = 2, .dtype = Dtype::i32})};
    const std::string name = shapeName(scores) + " keep " + shapeName(keep);
    cases.push_back({.name = name,
                     .operands = operands,
                     .build = [](auto &in) { return mask(in[0], in[1]); },
                     .differentiable = false});
    // Minus infinity has no finite loss; its exponential has.
    cases.push_back(
        {.name = "exp of " + name, .operands = operands, .build = [](auto &in) { return exp(mask(in[0], in[1])); }});
  };
  add({2, 3, 5, 7}, {5, 7});
  add({2, 3, 5, 7}, {2, 1, 5, 7});
  for (int64_t n : oddSizes) {
    add({3, n}, {3, n});
    add({2, 3, n}, {3, n});
    add({5, n}, {5, 1});
  }
  return cases;
}

static const OpTest test("mask", reference, cases);

} // namespace burin::test
