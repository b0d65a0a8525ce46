// cross_entropy: y = the sum, over the targets that are not -1, of ln(sum of e^logits) - logits[target]. A sum and not
// a mean, so that accumulation over batches with ignored targets stays exact; the program divides by their number.
#pragma once

#include "../core/graph.h"

namespace burin {

struct CrossEntropy {
  static constexpr std::string_view mnemonic = "cross_entropy";

  static constexpr Shape shape(const Shape &logits, const Shape &targets) {
    check(logits.rank() >= 1, "the logits need a last dimension, the classes", "logits", logits);
    check(Shape(targets).append(logits.back()) == logits, "cross_entropy needs one target for each row of logits",
          "logits", logits, "targets", targets);
    return {};
  }
  static constexpr Dtype dtype(Dtype logits, Dtype targets) {
    check(logits == Dtype::f32 && targets == Dtype::i32, "cross_entropy takes f32 logits and i32 targets", "logits",
          logits, "targets", targets);
    return Dtype::f32;
  }
  // Maximum, difference, exponential, sum.
  static constexpr Cost cost(const Shape &logits, const Shape &) { return {.other = 4 * logits.size()}; }
};

constexpr Tensor cross_entropy(Tensor logits, Tensor targets, const Site &site = std::source_location::current()) {
  return apply(CrossEntropy{}, {logits, targets}, site);
}

} // namespace burin
