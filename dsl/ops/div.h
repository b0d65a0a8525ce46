// div: y = a / b, with NumPy broadcasting.
#pragma once

#include "../core/graph.h"

namespace burin {

struct Div {
  static constexpr std::string_view mnemonic = "div";

  static constexpr Shape shape(const Shape &a, const Shape &b) { return broadcast(a, b); }
  static constexpr Cost cost(const Shape &a, const Shape &b) { return {.other = broadcast(a, b).size()}; }
};

constexpr Tensor div(Tensor a, Tensor b, const Site &site = std::source_location::current()) {
  return apply(Div{}, {a, b}, site);
}
constexpr Tensor operator/(Here a, Tensor b) { return div(a.tensor, b, a.site); }

} // namespace burin
