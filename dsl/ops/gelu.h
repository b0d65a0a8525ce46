// gelu: y = x * P(N(0, 1) <= x), exact by the error function or approximated by
// x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))).
#pragma once

#include <array>

#include "../core/graph.h"

namespace burin {

struct Gelu {
  static constexpr std::string_view mnemonic = "gelu";
  bool approximate = false; // true: the tanh form

  constexpr std::array<Attribute, 1> attributes() const { return {attribute("approximate", approximate)}; }
  static constexpr Shape shape(const Shape &x) { return x; }
  static constexpr Cost cost(const Shape &x) { return {.other = 8 * x.size()}; }
};

constexpr Tensor gelu(Tensor x, Gelu op = {}, const Site &site = std::source_location::current()) {
  return apply(op, {x}, site);
}

} // namespace burin
