// rms_norm: rows of odd widths, a large and a small epsilon, a row of zeros.
#include <cmath>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  Values y = call.in(0);
  for (int64_t row = 0; row < y.rows(); ++row) {
    double *x = y.data.data() + row * y.width();
    double squares = 0;
    for (int64_t c = 0; c < y.width(); ++c)
      squares += x[c] * x[c];
    const double rms = std::sqrt(squares / static_cast<double>(y.width()) + call.real("eps"));
    for (int64_t c = 0; c < y.width(); ++c)
      x[c] *= call.in(1)[c] / rms;
  }
  return {y};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  auto add = [&](const Shape &shape, double eps, const OpOperand &x) {
    cases.push_back({.name = shapeName(shape) + " eps " + std::to_string(eps),
                     .operands = {x, drawn({shape.back()}, {.lower = 0.5, .upper = 1.5})},
                     .build = [eps](auto &in) { return rms_norm(in[0], in[1], {.eps = eps}); }});
  };
  for (int64_t n : oddSizes)
    add({5, n}, 1e-5, drawn({5, n}, {}));
  add({2, 3, 17}, 0.5, drawn({2, 3, 17}, {}));
  add({33}, 1e-5, drawn({33}, {}));
  add({2, 3}, 1e-2, {.shape = {2, 3}, .values = {0, 0, 0, 1, 2, 3}});
  return cases;
}

static const OpTest test("rms_norm", reference, cases);

} // namespace burin::test
