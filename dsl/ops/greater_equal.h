// greater_equal: y = 1 where a >= b, else 0, as i32; with NumPy broadcasting. Of two f32 or two i32 tensors; a NaN
// compares as 0. How masks are made from positions.
#pragma once

#include "../core/graph.h"

namespace burin {

struct GreaterEqual {
  static constexpr std::string_view mnemonic = "greater_equal";

  static constexpr Shape shape(const Shape &a, const Shape &b) { return broadcast(a, b); }
  static constexpr Dtype dtype(Dtype a, Dtype b) {
    check(a == b, "the operands of greater_equal must have one dtype", "a", a, "b", b);
    return Dtype::i32;
  }
  static constexpr Cost cost(const Shape &a, const Shape &b) { return {.other = broadcast(a, b).size()}; }
};

constexpr Tensor greater_equal(Tensor a, Tensor b, const Site &site = std::source_location::current()) {
  return apply(GreaterEqual{}, {a, b}, site);
}

} // namespace burin
