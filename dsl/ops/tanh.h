// tanh: y = tanh x.
#pragma once

#include "../core/graph.h"

namespace burin {

struct Tanh {
  static constexpr std::string_view mnemonic = "tanh";

  static constexpr Shape shape(const Shape &x) { return x; }
  static constexpr Cost cost(const Shape &x) { return {.other = x.size()}; }
};

constexpr Tensor tanh(Tensor x, const Site &site = std::source_location::current()) { return apply(Tanh{}, {x}, site); }

} // namespace burin
