// past: everything so far along the second last dimension. In training a sequence is whole, so this is the identity;
// where tokens come one by one it appends to what is kept and gives all of it. Whatever mixes positions must read
// through it.
#pragma once

#include "../core/graph.h"

namespace burin {

struct Past {
  static constexpr std::string_view mnemonic = "past";

  static constexpr Shape shape(const Shape &x) {
    check(x.rank() >= 2, "past needs [..., length, d]", "x", x);
    return x;
  }
  static constexpr Cost cost(const Shape &) { return {}; }
};

constexpr Tensor past(Tensor x, const Site &site = std::source_location::current()) { return apply(Past{}, {x}, site); }

} // namespace burin
