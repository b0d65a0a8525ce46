// where: y = a where condition is not 0, else b; all three with NumPy broadcasting. The value not chosen has no
// influence, not even as NaN.
#pragma once

#include "../core/graph.h"

namespace burin {

struct Where {
  static constexpr std::string_view mnemonic = "where";

  static constexpr Shape shape(const Shape &condition, const Shape &a, const Shape &b) {
    return broadcast(condition, broadcast(a, b));
  }
  static constexpr Dtype dtype(Dtype condition, Dtype a, Dtype b) {
    check(condition == Dtype::i32, "the condition of where must be i32", "condition", condition);
    check(a == b, "where chooses between tensors of one dtype", "a", a, "b", b);
    return a;
  }
  static constexpr Cost cost(const Shape &condition, const Shape &a, const Shape &b) {
    return {.other = shape(condition, a, b).size()};
  }
};

constexpr Tensor where(Tensor condition, Tensor a, Tensor b, const Site &site = std::source_location::current()) {
  return apply(Where{}, {condition, a, b}, site);
}

} // namespace burin
