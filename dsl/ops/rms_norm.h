// rms_norm: y = x * gain / sqrt(mean(x^2) + eps), the mean taken over the last dimension.
#pragma once

#include <array>

#include "../core/graph.h"

namespace burin {

struct RmsNorm {
  static constexpr std::string_view mnemonic = "rms_norm";
  double eps = 1e-5;

  constexpr std::array<Attribute, 1> attributes() const { return {attribute("eps", eps)}; }
  constexpr Shape shape(const Shape &x, const Shape &gain) const {
    check(eps >= 0, "the eps of rms_norm must not be negative", "eps", eps);
    check(x.rank() >= 1, "rms_norm needs a last dimension to run over", "x", x);
    check(gain == Shape{x.back()}, "the gain must be a vector as long as the last dimension of x", "x", x, "gain",
          gain);
    return x;
  }
  // Square and sum, then scale twice. The root of each row is noise.
  static constexpr Cost cost(const Shape &x, const Shape &) { return {.other = 4 * x.size()}; }
};

constexpr Tensor rms_norm(Tensor x, Tensor gain, RmsNorm op = {}, const Site &site = std::source_location::current()) {
  return apply(op, {x, gain}, site);
}

} // namespace burin
