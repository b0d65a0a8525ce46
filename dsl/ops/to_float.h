// to_float: y = x as f32, of i32.
#pragma once

#include "../core/graph.h"

namespace burin {

struct ToFloat {
  static constexpr std::string_view mnemonic = "to_float";

  static constexpr Shape shape(const Shape &x) { return x; }
  static constexpr Dtype dtype(Dtype x) {
    check(x == Dtype::i32, "to_float takes i32", "x", x);
    return Dtype::f32;
  }
  static constexpr Cost cost(const Shape &x) { return {.other = x.size()}; }
};

constexpr Tensor to_float(Tensor x, const Site &site = std::source_location::current()) {
  return apply(ToFloat{}, {x}, site);
}

} // namespace burin
