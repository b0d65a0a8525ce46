// concat: the rows of `b` after those of `a`, along the first dimension.
#pragma once

#include "../core/graph.h"

namespace burin {

struct Concat {
  static constexpr std::string_view mnemonic = "concat";

  static constexpr Shape shape(const Shape &a, const Shape &b) {
    check(a.rank() >= 1 && a.rank() == b.rank(), "concat needs a first dimension of both", "a", a, "b", b);
    Shape result = a;
    result[0] = b[0];
    check(result == b, "what is concatenated must agree in all but the first dimension", "a", a, "b", b);
    result[0] = a[0] + b[0];
    return result;
  }
  static constexpr Dtype dtype(Dtype a, Dtype b) {
    check(a == b, "the operands of concat must have one dtype", "a", a, "b", b);
    return a;
  }
  static constexpr Cost cost(const Shape &, const Shape &) { return {}; }
};

constexpr Tensor concat(Tensor a, Tensor b, const Site &site = std::source_location::current()) {
  return apply(Concat{}, {a, b}, site);
}

} // namespace burin
