// softmax: over the last dimension; a row that is all minus infinity becomes 0, and so does its gradient.
#include <algorithm>
#include <cmath>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  Values y = call.in(0);
  for (int64_t row = 0; row < y.rows(); ++row) {
    double *x = y.data.data() + row * y.width();
    const double most = *std::max_element(x, x + y.width());
    double sum = 0;
    for (int64_t c = 0; c < y.width(); ++c)
      sum += x[c] = std::isinf(most) ? 0 : std::exp(x[c] - most);
    for (int64_t c = 0; c < y.width() && sum > 0; ++c)
      x[c] /= sum;
  }
  return {y};
}

static std::vector<OpCase> cases() {
  auto op = [](Tensor x) { return softmax(x); };
  auto masked = [](auto &in) { return softmax(mask(in[0], in[1])); };
  std::vector<OpCase> cases = unaryCases(op);
  // A scalar has no rows.
  std::erase_if(cases, [](const OpCase &test) { return test.operands[0].shape.rank() == 0; });
  return cases +
         named("large", {{.name = "3x17",
                          .operands = {drawn({3, 17}, {.lower = -90, .upper = 90})},
                          .build = [=](auto &in) { return op(in[0]); }},
                         {.name = "beyond exp",
                          .operands = {drawn({3, 17}, {.lower = 900, .upper = 1000})},
                          .build = [=](auto &in) { return op(in[0]); }}}) +
         std::vector<OpCase>{
             {.name = "a row without anything kept",
              .operands = {drawn({3, 5}, {}),
                           {.shape = {3, 5},
                            .dtype = Dtype::i32,
                            .values = {1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1}}},
              .build = masked},
             {.name = "masked 7x33",
              .operands = {drawn({7, 33}, {}), drawn({7, 33}, {.lower = 0, .upper = 2, .dtype = Dtype::i32})},
              .build = masked}};
}

static const OpTest test("softmax", reference, cases);

} // namespace burin::test
