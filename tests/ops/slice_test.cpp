// slice: consecutive rows, read where they lie.
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
  for (int64_t n : oddSizes) {
    const std::string x = "tensor<7x" + std::to_string(n) + "x3xf32>", y = "tensor<2x" + std::to_string(n) + "x3xf32>";
    cases.push_back({.name = "rows 4 and 5 of " + x,
                     .operands = {{.shape = {7, n, 3}}},
                     .build = {},
                     .text = "func.func @op(%x: " + x + ") -> " + y + " {\n  %y = burin.slice %x from 4 size 2 : " + x +
                             "\n  %z = burin.scale %y by 2.0 : " + y + "\n  return %z : " + y + "\n}"});
  }
  return cases;
}

static const OpTest test("slice", reference, cases);

} // namespace burin::test
