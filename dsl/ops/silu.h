// silu: y = x / (1 + e^-x).
#pragma once

#include "../core/graph.h"

namespace burin {

struct Silu {
  static constexpr std::string_view mnemonic = "silu";

  static constexpr Shape shape(const Shape &x) { return x; }
  static constexpr Cost cost(const Shape &x) { return {.other = 4 * x.size()}; }
};

constexpr Tensor silu(Tensor x, const Site &site = std::source_location::current()) { return apply(Silu{}, {x}, site); }

} // namespace burin
