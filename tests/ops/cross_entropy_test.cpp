// cross_entropy: the sum over rows; rows whose target is -1 count for nothing, neither in the loss nor in the gradient.
#include <algorithm>
#include <cmath>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  const Values &logits = call.in(0), &targets = call.in(1);
  double loss = 0;
  for (int64_t row = 0; row < targets.size(); ++row) {
    if (targets[row] < 0)
      continue;
    const double *x = logits.data.data() + row * logits.width();
    const double most = *std::max_element(x, x + logits.width());
    double sum = 0;
    for (int64_t c = 0; c < logits.width(); ++c)
      sum += std::exp(x[c] - most);
    loss += most + std::log(sum) - x[static_cast<int64_t>(targets[row])];
  }
  return {Values::scalar(loss)};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  auto add = [&](const Shape &rows, int64_t classes, double spread) {
    Shape logits = rows;
    logits.append(classes);
    cases.push_back(
        {.name = shapeName(logits) + " spread " + std::to_string(spread),
         .operands = {drawn(logits, {.lower = -spread, .upper = spread}),
                      drawn(rows, {.lower = -1, .upper = static_cast<double>(classes), .dtype = Dtype::i32})},
         .build = [](auto &in) { return cross_entropy(in[0], in[1]); }});
  };
  for (int64_t n : oddSizes) {
    add({5}, n, 2);
    add({n}, 7, 2);
  }
  add({2, 3}, 33, 2);
  add({2, 3}, 33, 300);
  cases.push_back({.name = "all ignored",
                   .operands = {drawn({3, 5}, {}), {.shape = {3}, .dtype = Dtype::i32, .values = {-1, -1, -1}}},
                   .build = [](auto &in) { return cross_entropy(in[0], in[1]); }});
  return cases;
}

static const OpTest test("cross_entropy", reference, cases);

} // namespace burin::test
