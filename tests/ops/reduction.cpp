// The reference and the list of reduction.h.
#include "tests/ops/reduction.h"

#include <algorithm>

namespace burin::test {

Values reduced(const Call &call, double start, double (*combine)(double, double)) {
  const Values &x = call.in(0);
  const std::vector<int64_t> dims = call.integers("dims");
  std::vector<int64_t> ones = x.shape, dropped;
  for (int64_t d : dims)
    ones[static_cast<size_t>(d)] = 1;
  for (size_t d = 0; d < x.shape.size(); ++d)
    if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) == dims.end())
      dropped.push_back(x.shape[d]);
  Values y(ones, start);
  for (int64_t i = 0; i < x.size(); ++i) {
    std::vector<int64_t> index = unravel(x.shape, i);
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d)
      at = at * ones[d] + (ones[d] == 1 ? 0 : index[d]);
    y[at] = combine(y[at], x[i]);
  }
  return call.flag("keep_dims") ? y : Values(dropped, y.data);
}

std::vector<OpCase> reductionCases(Tensor (*op)(Tensor, const Shape &, bool)) {
  std::vector<OpCase> cases;
  auto add = [&](const Shape &x, const Shape &dims) {
    for (bool keep : {false, true})
      cases.push_back({.name = shapeName(x) + " over " + shapeName(dims) + (keep ? " kept" : ""),
                       .operands = {drawn(x, {})},
                       .build = [=](auto &in) { return op(in[0], dims, keep); }});
  };
  for (const Shape &dims : {Shape{0}, Shape{1}, Shape{2}, Shape{0, 1}, Shape{0, 2}, Shape{1, 2}, Shape{0, 1, 2}})
    add({3, 5, 7}, dims);
  add({2, 3, 5, 7}, {0, 2});
  add({2, 3, 5, 7}, {1, 3});
  for (int64_t n : oddSizes) {
    add({3, n}, {1});
    add({n, 3}, {0});
    add({3, n}, {0});
    add({n}, {0});
    add({n, 17}, {0, 1});
  }
  return cases;
}

} // namespace burin::test
