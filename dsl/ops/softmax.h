// softmax: y = e^(x - max) / sum of e^(x - max), over the last dimension.
#pragma once

#include "../core/graph.h"

namespace burin {

struct Softmax {
  static constexpr std::string_view mnemonic = "softmax";

  static constexpr Shape shape(const Shape &x) {
    check(x.rank() >= 1, "softmax needs a last dimension to run over", "x", x);
    return x;
  }
  // Maximum, difference, exponential, sum, product.
  static constexpr Cost cost(const Shape &x) { return {.other = 5 * x.size()}; }
};

constexpr Tensor softmax(Tensor x, const Site &site = std::source_location::current()) {
  return apply(Softmax{}, {x}, site);
}

} // namespace burin
