// rope: rotates pairs of the last dimension by an angle that grows with the position:
// angle(t, i) = positions[t] * theta^(-2i/d),  (y0, y1) = (x0 cos - x1 sin, x0 sin + x1 cos).
// A pair is (2i, 2i + 1), or (i, i + d/2) with half_split. x is [batch, length, d] or [batch, heads, length, d],
// positions [length] or [batch, length], the same for all heads.
#pragma once

#include <array>

#include "../core/graph.h"

namespace burin {

struct Rope {
  static constexpr std::string_view mnemonic = "rope";
  double theta = 1e4;
  bool half_split = false;

  constexpr std::array<Attribute, 2> attributes() const {
    return {attribute("theta", theta), attribute("half_split", half_split)};
  }
  constexpr Shape shape(const Shape &x, const Shape &positions) const {
    check(theta > 0, "the theta of rope must be positive", "theta", theta);
    check(x.rank() == 3 || x.rank() == 4, "rope takes [batch, length, d] or [batch, heads, length, d]", "x", x);
    check(x.back() % 2 == 0, "rope rotates pairs, so its last dimension must be even", "x", x);
    check(positions == Shape{x.back(1)} || positions == Shape{x[0], x.back(1)},
          "the positions of rope must be [length] or [batch, length] of its input", "x", x, "positions", positions);
    return x;
  }
  static constexpr Dtype dtype(Dtype x, Dtype positions) {
    check(x == Dtype::f32 && positions == Dtype::i32, "rope takes f32 and i32 positions", "x", x, "positions",
          positions);
    return Dtype::f32;
  }
  // Two products and a sum; sine and cosine come from a table or are shared by the heads.
  static constexpr Cost cost(const Shape &x, const Shape &) { return {.other = 3 * x.size()}; }
};

constexpr Tensor rope(Tensor x, Tensor positions, Rope op = {}, const Site &site = std::source_location::current()) {
  return apply(op, {x, positions}, site);
}

} // namespace burin
