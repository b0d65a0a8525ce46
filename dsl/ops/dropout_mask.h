// dropout_mask: factors that put out a share `rate` of the elements of a tensor and make up for it with the others: 0
// or 1 / (1 - rate). Each is a function of the key, the op's id and the element's place alone: the row, the position
// and the column. So the mask is the same however a batch is cut up, and is computed again rather than kept. A key of 0
// turns it off: every factor is 1.
#pragma once

#include <array>

#include "../core/graph.h"

namespace burin {

struct DropoutMask {
  static constexpr std::string_view mnemonic = "dropout_mask";
  int64_t width = 1;
  double rate = 0;
  int64_t id = 0; // tells the masks of a model apart; in [0, 2^31)

  constexpr std::array<Attribute, 3> attributes() const {
    return {Attribute{.name = "width", .integer = width}, attribute("rate", rate),
            Attribute{.name = "id", .integer = id}};
  }
  constexpr Shape shape(const Shape &rows, const Shape &positions, const Shape &key) const {
    check(rate >= 0 && rate < 1, "the rate of dropout must lie in [0, 1)", "rate", rate);
    check(width >= 1, "the width of a dropout mask must be at least 1", "width", width);
    check(key.rank() == 0, "the key of dropout must be a scalar", "key", key);
    Shape result = broadcast(rows, positions);
    check(result.rank() >= 1 && result.back() == 1, "rows and positions of dropout must be columns, [..., 1]", "rows",
          rows, "positions", positions);
    result[result.rank() - 1] = width;
    return result;
  }
  static constexpr Dtype dtype(Dtype rows, Dtype positions, Dtype key) {
    check(rows == Dtype::i32 && positions == Dtype::i32 && key == Dtype::i32, "dropout_mask takes i32", "rows", rows,
          "positions", positions, "key", key);
    return Dtype::f32;
  }
  constexpr Cost cost(const Shape &rows, const Shape &positions, const Shape &key) const {
    return {.other = 8 * shape(rows, positions, key).size()};
  }
};

constexpr Tensor dropout_mask(Tensor rows, Tensor positions, Tensor key, const DropoutMask &op,
                              const Site &site = std::source_location::current()) {
  return apply(op, {rows, positions, key}, site);
}

} // namespace burin
