// dropout_keys: a key for each row of a matrix that dropout_by_key is to thin out: a function of the step's key, the
// op's id and the row's place alone, which is told by a row, a position and a column. Where the step's key is 0, which
// turns dropout off, so are all of these.
#pragma once

#include <array>

#include "dropout_mask.h"

namespace burin {

struct DropoutKeys {
  static constexpr std::string_view mnemonic = "dropout_keys";
  int64_t width = 1;
  int64_t id = 0; // tells the masks of a model apart; in [0, 2^31)

  constexpr std::array<Attribute, 2> attributes() const {
    return {Attribute{.name = "width", .integer = width}, Attribute{.name = "id", .integer = id}};
  }
  constexpr Shape shape(const Shape &rows, const Shape &positions, const Shape &key) const {
    return DropoutMask{.width = width}.shape(rows, positions, key);
  }
  static constexpr Dtype dtype(Dtype rows, Dtype positions, Dtype key) {
    check(rows == Dtype::i32 && positions == Dtype::i32 && key == Dtype::i32, "dropout_keys takes i32", "rows", rows,
          "positions", positions, "key", key);
    return Dtype::i32;
  }
  constexpr Cost cost(const Shape &rows, const Shape &positions, const Shape &key) const {
    return DropoutMask{.width = width}.cost(rows, positions, key);
  }
};

constexpr Tensor dropout_keys(Tensor rows, Tensor positions, Tensor key, const DropoutKeys &op,
                              const Site &site = std::source_location::current()) {
  return apply(op, {rows, positions, key}, site);
}

} // namespace burin
