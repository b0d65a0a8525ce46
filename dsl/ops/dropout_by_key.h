// dropout_by_key: the factors of dropout as dropout_mask has them, of a key for each row (dropout_keys) and a number
// for each column; the two broadcast. Each element needs one number of either alone, so that it can be computed where
// it is used, in the midst of an attention.
#pragma once

#include <array>

#include "../core/graph.h"

namespace burin {

struct DropoutByKey {
  static constexpr std::string_view mnemonic = "dropout_by_key";
  double rate = 0;

  constexpr std::array<Attribute, 1> attributes() const { return {attribute("rate", rate)}; }
  constexpr Shape shape(const Shape &keys, const Shape &columns) const {
    check(rate >= 0 && rate < 1, "the rate of dropout must lie in [0, 1)", "rate", rate);
    return broadcast(keys, columns);
  }
  static constexpr Dtype dtype(Dtype keys, Dtype columns) {
    check(keys == Dtype::i32 && columns == Dtype::i32, "dropout_by_key takes i32", "keys", keys, "columns", columns);
    return Dtype::f32;
  }
  constexpr Cost cost(const Shape &keys, const Shape &columns) const {
    return {.other = 8 * broadcast(keys, columns).size()};
  }
};

constexpr Tensor dropout_by_key(Tensor keys, Tensor columns, const DropoutByKey &op,
                                const Site &site = std::source_location::current()) {
  return apply(op, {keys, columns}, site);
}

} // namespace burin
