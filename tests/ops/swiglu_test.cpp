// swiglu: found in chains of primitives by the pipeline that compiles the cases.
#include <cmath>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  const Values gate = matrixProduct(call.in(0), call.in(1), false, true),
               up = matrixProduct(call.in(0), call.in(2), false, true);
  return {elementwise(gate, up, [](double g, double u) { return g / (1 + std::exp(-g)) * u; }), gate, up};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  auto add = [&](const Shape &x, int64_t hidden) {
    cases.push_back({.name = shapeName(x) + " hidden " + std::to_string(hidden),
                     .operands = {{.shape = x}, {.shape = {hidden, x.back()}}, {.shape = {hidden, x.back()}}},
                     .build = [](auto &in) {
                       return mul(silu(matmul(in[0], in[1], {.transpose_b = true})),
                                  matmul(in[0], in[2], {.transpose_b = true}));
                     }});
  };
  for (int64_t n : oddSizes) {
    add({n, 5}, 17);
    add({2, 3, n}, 13);
    add({7, 3}, n);
  }
  return cases;
}

static const OpTest test("swiglu", reference, cases);

} // namespace burin::test
