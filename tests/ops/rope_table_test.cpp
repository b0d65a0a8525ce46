// rope_table: cosines and signed sines of positions, adjacent and split pairs.
#include <cmath>

#include "tests/support/op_test.h"

namespace burin::test {

static Results reference(const Call &call) {
  const int64_t d = call.integer("dim");
  const bool split = call.flag("half_split"), sine = call.flag("sine");
  std::vector<int64_t> shape = call.in(0).shape;
  shape.back() = d;
  Values y(shape);
  for (int64_t row = 0; row < call.in(0).size(); ++row)
    for (int64_t j = 0; j < d; ++j) {
      const int64_t pair = split ? j % (d / 2) : j / 2;
      const bool first = split ? j < d / 2 : j % 2 == 0;
      const double angle =
          call.in(0)[row] * std::pow(call.real("theta"), -2.0 * static_cast<double>(pair) / static_cast<double>(d));
      y[row * d + j] = sine ? (first ? -std::sin(angle) : std::sin(angle)) : std::cos(angle);
    }
  return {y};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  for (const char *form : {"", " sine", " half_split", " half_split sine"})
    for (int64_t n : {2, 6, 14, 32, 34, 66}) {
      const std::string dim = std::to_string(n);
      cases.push_back({.name = dim + form,
                       .operands = {{.shape = {7, 1}, .dtype = Dtype::i32, .lower = 0, .upper = 1e6}},
                       .build = {},
                       .text = "func.func @op(%x: tensor<7x1xi32>) -> tensor<7x" + dim +
                               "xf32> { %y = burin.rope_table %x dim " + dim + " theta 1.0e4" + form +
                               " : tensor<7x1xi32>  return %y : tensor<7x" + dim + "xf32> }"});
    }
  return cases;
}

static const OpTest test("rope_table", reference, cases);

} // namespace burin::test
