// sigmoid: y = 1 / (1 + e^-x).
#pragma once

#include "../core/graph.h"

namespace burin {

struct Sigmoid {
  static constexpr std::string_view mnemonic = "sigmoid";

  static constexpr Shape shape(const Shape &x) { return x; }
  static constexpr Cost cost(const Shape &x) { return {.other = 3 * x.size()}; }
};

constexpr Tensor sigmoid(Tensor x, const Site &site = std::source_location::current()) {
  return apply(Sigmoid{}, {x}, site);
}

} // namespace burin
