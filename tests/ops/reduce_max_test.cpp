// reduce_max: over each choice of dimensions, dropped or kept as 1. The draws have no equal maxima.
#include <algorithm>
#include <limits>

#include "tests/ops/reduction.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {reduced(call, -std::numeric_limits<double>::infinity(),
                  [](double value, double x) { return std::max(value, x); })};
}

static std::vector<OpCase> cases() {
  return reductionCases(
      [](Tensor x, const Shape &dims, bool keep) { return reduce_max(x, {.dims = dims, .keep_dims = keep}); });
}

static const OpTest test("reduce_max", reference, cases);

} // namespace burin::test
