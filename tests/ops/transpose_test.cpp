// transpose: every order of few dimensions, and the split into heads between two products.
#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) { return {transposed(call.in(0), call.integers("permutation"))}; }

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  auto add = [&](const Shape &x, const Shape &permutation) {
    cases.push_back({.name = shapeName(x) + " as " + shapeName(permutation),
                     .operands = {drawn(x, {})},
                     .build = [permutation](auto &in) { return transpose(in[0], permutation); }});
  };
  for (const Shape &permutation :
       {Shape{0, 1, 2}, Shape{0, 2, 1}, Shape{1, 0, 2}, Shape{1, 2, 0}, Shape{2, 0, 1}, Shape{2, 1, 0}})
    add({3, 5, 7}, permutation);
  add({2, 3, 5, 7}, {0, 2, 1, 3});
  add({2, 3, 5, 7}, {3, 1, 0, 2});
  for (int64_t n : oddSizes) {
    add({n, 17}, {1, 0});
    // (batch, length, heads * depth) -> (batch, heads, length, depth)
    cases.push_back({.name = "heads, length " + std::to_string(n),
                     .operands = {drawn({2, n, 5}, {}), drawn({5, 6}, {}), drawn({2, 3, 2, 7}, {})},
                     .build = [n](auto &in) {
                       return matmul(transpose(reshape(matmul(in[0], in[1]), {2, n, 3, 2}), {0, 2, 1, 3}), in[2]);
                     }});
  }
  return cases;
}

static const OpTest test("transpose", reference, cases);

} // namespace burin::test
