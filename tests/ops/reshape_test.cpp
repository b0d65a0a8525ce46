// reshape: the same elements in other dimensions, alone and between products that read through it.
#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) { return {Values(call.integers("shape"), call.in(0).data)}; }

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  auto add = [&](const Shape &from, const Shape &to) {
    cases.push_back({.name = shapeName(from) + " to " + shapeName(to),
                     .operands = {drawn(from, {})},
                     .build = [to](auto &in) { return reshape(in[0], to); }});
  };
  add({}, {1, 1});
  add({6, 35}, {2, 3, 5, 7});
  add({2, 3, 5, 7}, {30, 7});
  add({3, 1, 5}, {15});
  for (int64_t n : oddSizes) {
    add({3, 2 * n}, {2, 3, n});
    cases.push_back({.name = "between products, " + std::to_string(n),
                     .operands = {drawn({2, 3, n}, {}), drawn({n, 10}, {}), drawn({5, 7}, {})},
                     .build = [n](auto &in) {
                       return matmul(reshape(matmul(reshape(in[0], {6, n}), in[1]), {12, 5}), in[2]);
                     }});
  }
  return cases;
}

static const OpTest test("reshape", reference, cases);

} // namespace burin::test
