// concat: one tensor after the other.
#include "tests/support/op_test.h"

namespace burin::test {

static Results reference(const Call &call) {
  Values y = call.in(0);
  for (size_t i = 1; i < call.size(); ++i) {
    y.shape[0] += call.in(i).shape[0];
    y.data.insert(y.data.end(), call.in(i).data.begin(), call.in(i).data.end());
  }
  return {y};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  for (int64_t n : oddSizes) {
    auto type = [&](int64_t rows) { return "tensor<" + std::to_string(rows) + "x3xf32>"; };
    cases.push_back({.name = "rows " + std::to_string(n) + ", 5, 1",
                     .operands = {{.shape = {n, 3}}, {.shape = {5, 3}}, {.shape = {1, 3}}},
                     .build = {},
                     .text = "func.func @op(%a: " + type(n) + ", %b: " + type(5) + ", %c: " + type(1) + ") -> " +
                             type(n + 6) + " {\n  %y = burin.concat %a, %b, %c : " + type(n) + ", " + type(5) + ", " +
                             type(1) + "\n  return %y : " + type(n + 6) + "\n}"});
    cases.push_back({.name = "of the DSL, rows " + std::to_string(n) + " and 4",
                     .operands = {{.shape = {n, 2, 3}}, {.shape = {4, 2, 3}}},
                     .build = [](auto &in) { return concat(in[0], in[1]); }});
    cases.push_back({.name = "i32, twice the same " + std::to_string(n),
                     .operands = {{.shape = {n}, .dtype = Dtype::i32}},
                     .build = [](auto &in) { return concat(in[0], in[0]); },
                     .differentiable = false});
  }
  return cases;
}

static const OpTest test("concat", reference, cases);

} // namespace burin::test
