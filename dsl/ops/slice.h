// slice: `size` consecutive rows of the first dimension, from row `start`.
#pragma once

#include <array>

#include "../core/graph.h"

namespace burin {

struct Slice {
  static constexpr std::string_view mnemonic = "slice";
  int64_t start = 0, size = 1;

  constexpr std::array<Attribute, 2> attributes() const {
    return {Attribute{.name = "start", .integer = start}, Attribute{.name = "size", .integer = size}};
  }
  constexpr Shape shape(const Shape &x) const {
    check(x.rank() >= 1, "slice needs a first dimension to cut", "x", x);
    check(0 <= start && 1 <= size && start <= x[0] - size, "a slice must lie within its input", "x", x, "start", start,
          "size", size);
    Shape result = x;
    result[0] = size;
    return result;
  }
  static constexpr Dtype dtype(Dtype x) { return x; }
  static constexpr Cost cost(const Shape &) { return {}; }
};

constexpr Tensor slice(Tensor x, const Slice &op, const Site &site = std::source_location::current()) {
  return apply(op, {x}, site);
}

} // namespace burin
