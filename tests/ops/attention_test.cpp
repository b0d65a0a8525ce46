// attention: found in chains of primitives by the pipeline that compiles the cases. More sizes, and fused against
// unfused: tests/fuse.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "tests/ops/attention.h"

namespace burin::test {

static Results reference(const Call &call) {
  const Values &q = call.in(0), &k = call.in(1), &v = call.in(2);
  std::vector<Values> arguments = {matrixProduct(q, k, false, true)};
  for (size_t i = 3; i < call.size(); ++i)
    arguments.push_back(call.in(i));
  const Results yielded = call.region(0, arguments);
  Values p = yielded[0];
  std::vector<int64_t> rows(p.shape.begin(), p.shape.end() - 1);
  Values maximum(rows), rsum(rows);
  for (int64_t row = 0; row < p.rows(); ++row) {
    double *x = p.data.data() + row * p.width();
    const double most = *std::max_element(x, x + p.width());
    // A row that sees nothing has neither a maximum nor a sum.
    maximum[row] = std::isinf(most) ? 0 : most;
    double sum = 0;
    for (int64_t c = 0; c < p.width(); ++c)
      sum += x[c] = std::exp(x[c] - maximum[row]);
    rsum[row] = sum > 0 ? 1 / sum : 0;
    for (int64_t c = 0; c < p.width(); ++c)
      x[c] *= rsum[row];
  }
  if (yielded.size() == 2)
    p = elementwise(p, yielded[1], [](double weight, double factor) { return weight * factor; });
  return {matrixProduct(p, v, false, false), maximum, rsum};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  size_t turn = 0;
  auto next = [&] { return oddSizes[turn++ % std::size(oddSizes)]; };
  for (int64_t n : oddSizes) {
    cases.push_back(causalAttention({2}, n, 5));
    cases.push_back(plainAttention({}, n, next(), 3, 7));
  }
  // Depths, and leading dimensions.
  for (int64_t n : {1, 17, 65})
    cases.push_back(plainAttention({3, 1, 2}, 5, 13, n, 17));
  return cases + attentionVariants(17, 8);
}

static const OpTest test("attention", reference, cases);

} // namespace burin::test
