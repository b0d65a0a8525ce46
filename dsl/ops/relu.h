// relu: y = max(x, 0).
#pragma once

#include "../core/graph.h"

namespace burin {

struct Relu {
  static constexpr std::string_view mnemonic = "relu";

  static constexpr Shape shape(const Shape &x) { return x; }
  static constexpr Cost cost(const Shape &x) { return {.other = x.size()}; }
};

constexpr Tensor relu(Tensor x, const Site &site = std::source_location::current()) { return apply(Relu{}, {x}, site); }

} // namespace burin
