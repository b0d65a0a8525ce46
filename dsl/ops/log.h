// log: y = ln x.
#pragma once

#include "../core/graph.h"

namespace burin {

struct Log {
  static constexpr std::string_view mnemonic = "log";

  static constexpr Shape shape(const Shape &x) { return x; }
  static constexpr Cost cost(const Shape &x) { return {.other = x.size()}; }
};

constexpr Tensor log(Tensor x, const Site &site = std::source_location::current()) { return apply(Log{}, {x}, site); }

} // namespace burin
