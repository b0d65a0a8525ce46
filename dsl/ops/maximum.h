// maximum: y = max(a, b), with NumPy broadcasting; of two f32 or two i32 tensors.
#pragma once

#include "../core/graph.h"

namespace burin {

struct Maximum {
  static constexpr std::string_view mnemonic = "maximum";

  static constexpr Shape shape(const Shape &a, const Shape &b) { return broadcast(a, b); }
  static constexpr Dtype dtype(Dtype a, Dtype b) {
    check(a == b, "the operands of maximum must have one dtype", "a", a, "b", b);
    return a;
  }
  static constexpr Cost cost(const Shape &a, const Shape &b) { return {.other = broadcast(a, b).size()}; }
};

constexpr Tensor maximum(Tensor a, Tensor b, const Site &site = std::source_location::current()) {
  return apply(Maximum{}, {a, b}, site);
}

} // namespace burin
