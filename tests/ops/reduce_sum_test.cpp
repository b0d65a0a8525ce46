// reduce_sum: over each choice of dimensions, dropped or kept as 1.
#include "tests/ops/reduction.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {reduced(call, 0, [](double value, double x) { return value + x; })};
}

static std::vector<OpCase> cases() {
  return reductionCases(
      [](Tensor x, const Shape &dims, bool keep) { return reduce_sum(x, {.dims = dims, .keep_dims = keep}); });
}

static const OpTest test("reduce_sum", reference, cases);

} // namespace burin::test
