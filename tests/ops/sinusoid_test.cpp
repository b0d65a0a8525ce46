// sinusoid: sines and cosines of positions, early and late ones.
#include <cmath>

#include "tests/support/op_test.h"

namespace burin::test {

static Results reference(const Call &call) {
  const int64_t width = call.integer("width");
  std::vector<int64_t> shape = call.in(0).shape;
  shape.back() = width;
  Values y(shape);
  for (int64_t row = 0; row < call.in(0).size(); ++row)
    for (int64_t j = 0; j < width; ++j) {
      const double angle = call.in(0)[row] *
                           std::pow(call.real("theta"), -2.0 * static_cast<double>(j / 2) / static_cast<double>(width));
      y[row * width + j] = j % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  return {y};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  for (int64_t width : {2, 6, 14, 32, 34, 66})
    for (double theta : {10.0, 1e4})
      cases.push_back({.name = "width " + std::to_string(width) + ", theta " + std::to_string(theta),
                       .operands = {{.shape = {7, 1}, .dtype = Dtype::i32, .lower = 0, .upper = 1e6}},
                       .build = [=](auto &in) { return sinusoid(in[0], {.width = width, .theta = theta}); },
                       .differentiable = false});
  for (int64_t rows : oddSizes)
    cases.push_back({.name = std::to_string(rows) + " rows, of two sequences",
                     .operands = {{.shape = {2, rows, 1}, .dtype = Dtype::i32, .lower = 0, .upper = 100}},
                     .build = [=](auto &in) { return sinusoid(in[0], {.width = 6}); },
                     .differentiable = false});
  return cases;
}

static const OpTest test("sinusoid", reference, cases);

} // namespace burin::test
