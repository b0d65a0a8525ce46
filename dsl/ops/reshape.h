// reshape: the same elements in the same order, under another shape.
#pragma once

#include <array>

#include "../core/graph.h"

namespace burin {

struct Reshape {
  static constexpr std::string_view mnemonic = "reshape";
  Shape to; // the attribute "shape"

  constexpr std::array<Attribute, 1> attributes() const { return {attribute("shape", to)}; }
  constexpr Shape shape(const Shape &x) const {
    check(x.size() == to.size(), "a reshape must keep the number of elements", "x", x, "shape", to);
    return to;
  }
  static constexpr Dtype dtype(Dtype x) { return x; }
  static constexpr Cost cost(const Shape &) { return {}; }
};

constexpr Tensor reshape(Tensor x, const Shape &shape, const Site &site = std::source_location::current()) {
  return apply(Reshape{shape}, {x}, site);
}

} // namespace burin
