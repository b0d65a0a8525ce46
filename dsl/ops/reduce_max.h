// reduce_max: y = the maximum over the dimensions `dims`, which are dropped, or kept as 1 with keep_dims.
#pragma once

#include <array>

#include "../core/graph.h"

namespace burin {

struct ReduceMax {
  static constexpr std::string_view mnemonic = "reduce_max";
  Shape dims;
  bool keep_dims = false;

  constexpr std::array<Attribute, 2> attributes() const {
    return {attribute("dims", dims), attribute("keep_dims", keep_dims)};
  }
  constexpr Shape shape(const Shape &x) const { return reducedShape(x, dims, keep_dims); }
  static constexpr Cost cost(const Shape &x) { return {.other = x.size()}; }
};

constexpr Tensor reduce_max(Tensor x, const ReduceMax &op, const Site &site = std::source_location::current()) {
  return apply(op, {x}, site);
}

} // namespace burin
