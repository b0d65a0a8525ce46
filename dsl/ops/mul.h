// mul: y = a * b, with NumPy broadcasting; of two f32 or two i32 tensors.
#pragma once

#include "../core/graph.h"

namespace burin {

struct Mul {
  static constexpr std::string_view mnemonic = "mul";

  static constexpr Shape shape(const Shape &a, const Shape &b) { return broadcast(a, b); }
  static constexpr Dtype dtype(Dtype a, Dtype b) {
    check(a == b, "the operands of mul must have one dtype", "a", a, "b", b);
    return a;
  }
  static constexpr Cost cost(const Shape &a, const Shape &b) { return {.other = broadcast(a, b).size()}; }
};

constexpr Tensor mul(Tensor a, Tensor b, const Site &site = std::source_location::current()) {
  return apply(Mul{}, {a, b}, site);
}
constexpr Tensor operator*(Here a, Tensor b) { return mul(a.tensor, b, a.site); }

} // namespace burin
