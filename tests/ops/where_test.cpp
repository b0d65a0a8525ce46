// where: one of two by a condition, all three broadcast; the one not chosen has no influence, not even as NaN.
#include <limits>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {elementwise({&call.in(0), &call.in(1), &call.in(2)},
                      [](const double *in) { return in[0] != 0 ? in[1] : in[2]; })};
}

static std::vector<OpCase> cases() {
  std::vector<std::vector<Shape>> shapes = {
      {{}, {}, {}}, {{3, 1}, {1, 5}, {}}, {{2, 1, 1, 7}, {3, 5, 1}, {2, 3, 5, 7}}};
  for (int64_t n : oddSizes) {
    shapes.push_back({{3, n}, {3, n}, {3, n}});
    shapes.push_back({{3, 1}, {n}, {3, n}});
    shapes.push_back({{3, n}, {3, n}, {}});
  }
  auto op = [](auto &in) { return where(in[0], in[1], in[2]); };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<OpCase> cases = {{.name = "NaN not chosen",
                                .operands = {{.shape = {3}, .dtype = Dtype::i32, .values = {1, 0, 7}},
                                             {.shape = {3}, .values = {1, nan, 3}},
                                             {.shape = {3}, .values = {nan, 2, nan}}},
                                .build = op,
                                .differentiable = false}};
  for (const std::vector<Shape> &shape : shapes)
    cases.push_back({.name = shapeName(shape[0]) + ", " + shapeName(shape[1]) + ", " + shapeName(shape[2]),
                     .operands = {drawn(shape[0], {.lower = 0, .upper = 2, .dtype = Dtype::i32}), drawn(shape[1], {}),
                                  drawn(shape[2], {})},
                     .build = op});
  return cases;
}

static const OpTest test("where", reference, cases);

} // namespace burin::test
