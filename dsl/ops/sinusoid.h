// sinusoid: y[..., 2i] = sin(angle), y[..., 2i + 1] = cos(angle) with angle = positions[..., 0] * theta^(-2i/width):
// where a token stands, without anything to learn. The positions are a column, [..., 1].
#pragma once

#include <array>

#include "../core/graph.h"

namespace burin {

struct Sinusoid {
  static constexpr std::string_view mnemonic = "sinusoid";
  int64_t width = 2;
  double theta = 1e4;

  constexpr std::array<Attribute, 2> attributes() const {
    return {Attribute{.name = "width", .integer = width}, attribute("theta", theta)};
  }
  constexpr Shape shape(const Shape &positions) const {
    check(positions.rank() >= 1 && positions.back() == 1, "the positions of a sinusoid must be a column, [..., 1]",
          "positions", positions);
    check(width >= 2 && width % 2 == 0, "a sinusoid is made of pairs, so its width must be even", "width", width);
    check(theta > 0, "the theta of a sinusoid must be positive", "theta", theta);
    Shape result = positions;
    result[result.rank() - 1] = width;
    return result;
  }
  static constexpr Dtype dtype(Dtype positions) {
    check(positions == Dtype::i32, "a sinusoid takes i32 positions", "positions", positions);
    return Dtype::f32;
  }
  // The power, the product, the function.
  constexpr Cost cost(const Shape &positions) const { return {.other = 3 * positions.size() * width}; }
};

constexpr Tensor sinusoid(Tensor positions, const Sinusoid &op, const Site &site = std::source_location::current()) {
  return apply(op, {positions}, site);
}

} // namespace burin
