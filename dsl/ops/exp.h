// exp: y = e^x.
#pragma once

#include "../core/graph.h"

namespace burin {

struct Exp {
  static constexpr std::string_view mnemonic = "exp";

  static constexpr Shape shape(const Shape &x) { return x; }
  static constexpr Cost cost(const Shape &x) { return {.other = x.size()}; }
};

constexpr Tensor exp(Tensor x, const Site &site = std::source_location::current()) { return apply(Exp{}, {x}, site); }

} // namespace burin
