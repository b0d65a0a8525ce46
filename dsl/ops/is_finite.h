// is_finite: y = 1 where x is neither infinite nor NaN, else 0, as i32.
#pragma once

#include "../core/graph.h"

namespace burin {

struct IsFinite {
  static constexpr std::string_view mnemonic = "is_finite";

  static constexpr Shape shape(const Shape &x) { return x; }
  static constexpr Dtype dtype(Dtype x) {
    check(x == Dtype::f32, "is_finite takes f32", "x", x);
    return Dtype::i32;
  }
  static constexpr Cost cost(const Shape &x) { return {.other = x.size()}; }
};

constexpr Tensor is_finite(Tensor x, const Site &site = std::source_location::current()) {
  return apply(IsFinite{}, {x}, site);
}

} // namespace burin
