// matmul: y[..., m, n] = sum over k of a[..., m, k] * b[..., k, n]. A rank-2 b is shared by all leading dimensions of
// a; otherwise a and b have the same ones. A transposed operand is stored with its last two dimensions swapped.
#pragma once

#include <array>

#include "../core/graph.h"

namespace burin {

struct Matmul {
  static constexpr std::string_view mnemonic = "matmul";
  bool transpose_a = false, transpose_b = false;

  constexpr std::array<Attribute, 2> attributes() const {
    return {attribute("transpose_a", transpose_a), attribute("transpose_b", transpose_b)};
  }
  constexpr Shape shape(const Shape &a, const Shape &b) const {
    check(a.rank() >= 2 && b.rank() >= 2, "the operands of matmul need at least two dimensions", "a", a, "b", b);
    if (b.rank() == 2) {
      check(!transpose_a || a.rank() == 2, "a matmul with a shared b transposes a only of rank 2", "a", a, "b", b);
    } else {
      check(a.rank() == b.rank(), "batched operands of matmul must have the same rank", "a", a, "b", b);
      for (int i = 0; i < a.rank() - 2; ++i)
        check(a[i] == b[i], "batched operands of matmul must have the same leading dimensions", "a", a, "b", b);
    }
    check(depth(a) == (transpose_b ? b.back() : b.back(1)), "the inner dimensions of a matmul must agree", "a", a, "b",
          b, "transpose_a", transpose_a, "transpose_b", transpose_b);
    Shape result = a;
    result[a.rank() - 2] = transpose_a ? a.back() : a.back(1);
    result[a.rank() - 1] = transpose_b ? b.back(1) : b.back();
    return result;
  }
  constexpr Cost cost(const Shape &a, const Shape &b) const { return {.products = 2 * shape(a, b).size() * depth(a)}; }

  // The length of the sums.
  constexpr int64_t depth(const Shape &a) const { return transpose_a ? a.back(1) : a.back(); }
};

constexpr Tensor matmul(Tensor a, Tensor b, Matmul op = {}, const Site &site = std::source_location::current()) {
  return apply(op, {a, b}, site);
}

} // namespace burin
