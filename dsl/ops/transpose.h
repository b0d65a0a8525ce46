// transpose: dimension i of the result is dimension permutation[i] of x.
#pragma once

#include <array>

#include "../core/graph.h"

namespace burin {

struct Transpose {
  static constexpr std::string_view mnemonic = "transpose";
  Shape permutation;

  constexpr std::array<Attribute, 1> attributes() const { return {attribute("permutation", permutation)}; }
  constexpr Shape shape(const Shape &x) const {
    check(permutation.rank() == x.rank(), "a permutation must name each dimension once", "x", x, "permutation",
          permutation);
    for (int i = 0; i < x.rank(); ++i)
      check(permutation.contains(i), "a permutation must name each dimension once", "x", x, "permutation", permutation);
    Shape result;
    for (int64_t dim : permutation)
      result.append(x[static_cast<int>(dim)]);
    return result;
  }
  static constexpr Dtype dtype(Dtype x) { return x; }
  static constexpr Cost cost(const Shape &) { return {}; }
};

constexpr Tensor transpose(Tensor x, const Shape &permutation, const Site &site = std::source_location::current()) {
  return apply(Transpose{permutation}, {x}, site);
}

} // namespace burin
