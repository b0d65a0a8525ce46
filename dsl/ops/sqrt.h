// sqrt: y = the square root of x.
#pragma once

#include "../core/graph.h"

namespace burin {

struct Sqrt {
  static constexpr std::string_view mnemonic = "sqrt";

  static constexpr Shape shape(const Shape &x) { return x; }
  static constexpr Cost cost(const Shape &x) { return {.other = x.size()}; }
};

constexpr Tensor sqrt(Tensor x, const Site &site = std::source_location::current()) { return apply(Sqrt{}, {x}, site); }

} // namespace burin
