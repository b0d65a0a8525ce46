// slice: consecutive rows, read where they lie; three of them as the matrices of three products.
#include "tests/support/op_test.h"

namespace burin::test {

static Results reference(const Call &call) {
  const Values &x = call.in(0);
  std::vector<int64_t> shape = x.shape;
  const int64_t row = x.size() / shape[0], start = call.integer("start");
  shape[0] = call.integer("size");
  return {Values(shape, std::vector<double>(x.data.begin() + start * row, x.data.begin() + (start + shape[0]) * row))};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  for (int64_t n : oddSizes)
    for (const Slice &rows : {Slice{4, 2}, Slice{0, 3}, Slice{5, 2}, Slice{0, 7}})
      cases.push_back({.name = "rows " + std::to_string(rows.start) + " and on, " + std::to_string(rows.size) +
                               " of [7, " + std::to_string(n) + ", 3]",
                       .operands = {{.shape = {7, n, 3}}},
                       .build = [=](auto &in) { return scale(slice(in[0], rows), 2); }});
  // The gradients of all slices meet in one tensor; where two overlap they add up.
  for (int64_t n : oddSizes)
    for (int64_t start : {n, n - 1})
      cases.push_back({.name = "a matrix of three, " + std::to_string(n) + " rows each, the second from row " +
                               std::to_string(start),
                       .operands = {{.shape = {5, 3}}, {.shape = {3 * n, 3}}},
                       .build = [=](auto &in) {
                         const auto part = [&](int64_t from) {
                           return matmul(in[0], slice(in[1], {from, n}), {.transpose_b = true});
                         };
                         const Tensor first = part(0), second = part(start), third = part(2 * n);
                         return add(mul(first, second), third);
                       }});
  return cases;
}

static const OpTest test("slice", reference, cases);

} // namespace burin::test
