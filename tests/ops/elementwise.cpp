// The lists of elementwise.h.
#include "tests/ops/elementwise.h"

namespace burin::test {

std::string shapeName(const Shape &shape) {
  std::string name;
  for (int64_t size : shape)
    name += (name.empty() ? "" : "x") + std::to_string(size);
  return name.empty() ? "scalar" : name;
}

OpOperand drawn(const Shape &shape, const Draw &draw) {
  return {.shape = shape, .dtype = draw.dtype, .lower = draw.lower, .upper = draw.upper};
}

std::vector<OpCase> unaryCases(const std::function<Tensor(Tensor)> &op, const Draw &x, bool differentiable) {
  std::vector<Shape> shapes = {{}, {31}, {2, 3, 5, 7}};
  for (int64_t n : oddSizes)
    shapes.push_back({3, n});
  std::vector<OpCase> cases;
  for (const Shape &shape : shapes)
    cases.push_back({.name = shapeName(shape),
                     .operands = {drawn(shape, x)},
                     .build = [=](auto &in) { return op(in[0]); },
                     .differentiable = differentiable});
  return cases;
}

std::vector<OpCase> binaryCases(const std::function<Tensor(Tensor, Tensor)> &op, const Draw &x, const Draw &y,
                                bool differentiable) {
  std::vector<std::pair<Shape, Shape>> shapes = {
      {{}, {}},           {{31}, {31}}, {{2, 3, 1, 5}, {3, 7, 1}}, {{2, 3, 5, 7}, {2, 1, 5, 1}},
      {{17, 1}, {1, 13}}, {{}, {3, 17}}};
  for (int64_t n : oddSizes) {
    shapes.push_back({{3, n}, {3, n}});
    shapes.push_back({{5, n}, {n}});
    shapes.push_back({{5, n}, {5, 1}});
    shapes.push_back({{1, n}, {5, n}});
  }
  std::vector<OpCase> cases;
  for (const auto &[a, b] : shapes)
    cases.push_back({.name = shapeName(a) + " and " + shapeName(b),
                     .operands = {drawn(a, x), drawn(b, y)},
                     .build = [=](auto &in) { return op(in[0], in[1]); },
                     .differentiable = differentiable});
  return cases;
}

std::vector<OpCase> operator+(std::vector<OpCase> a, std::vector<OpCase> b) {
  for (OpCase &test : b)
    a.push_back(std::move(test));
  return a;
}

std::vector<OpCase> named(const std::string &prefix, std::vector<OpCase> cases) {
  for (OpCase &test : cases)
    test.name = prefix + " " + test.name;
  return cases;
}

} // namespace burin::test
