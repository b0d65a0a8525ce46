// mask: y = scores where keep is not 0, else minus infinity; keep broadcasts to the scores. A softmax makes the
// infinities exact zeros.
#pragma once

#include "../core/graph.h"

namespace burin {

struct Mask {
  static constexpr std::string_view mnemonic = "mask";

  static constexpr Shape shape(const Shape &scores, const Shape &keep) {
    check(broadcast(scores, keep) == scores, "a mask must broadcast to the scores, not the other way", "scores", scores,
          "keep", keep);
    return scores;
  }
  static constexpr Dtype dtype(Dtype scores, Dtype keep) {
    check(scores == Dtype::f32 && keep == Dtype::i32, "mask takes f32 scores and an i32 keep", "scores", scores, "keep",
          keep);
    return Dtype::f32;
  }
  static constexpr Cost cost(const Shape &scores, const Shape &) { return {.other = scores.size()}; }
};

constexpr Tensor mask(Tensor scores, Tensor keep, const Site &site = std::source_location::current()) {
  return apply(Mask{}, {scores, keep}, site);
}

} // namespace burin
