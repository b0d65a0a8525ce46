// scale: y = factor * x, the factor a number of the declaration.
#pragma once

#include <array>

#include "../core/graph.h"

namespace burin {

struct Scale {
  static constexpr std::string_view mnemonic = "scale";
  double factor = 1;

  constexpr std::array<Attribute, 1> attributes() const { return {attribute("factor", factor)}; }
  constexpr Shape shape(const Shape &x) const {
    check(factor - factor == 0, "the factor of a scale must be finite", "factor", factor);
    return x;
  }
  static constexpr Cost cost(const Shape &x) { return {.other = x.size()}; }
};

constexpr Tensor scale(Tensor x, double factor, const Site &site = std::source_location::current()) {
  return apply(Scale{factor}, {x}, site);
}

} // namespace burin
