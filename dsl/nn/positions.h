// Where a token stands, as a vector that is added to its embedding: learned, or made of sines. Positions are [length]
// or [batch, length]; the result broadcasts over x [batch, length, width].
#pragma once

#include "../ops/embedding.h"
#include "../ops/reshape.h"
#include "../ops/sinusoid.h"

namespace burin::nn {

// A learned vector for each of `context` positions. Weight decay applies, as to every matrix.
constexpr Tensor learned_positions(Tensor positions, int64_t context, int64_t width, const Scope &scope,
                                   const Initializer &init = normal(0.02)) {
  checkAt(scope.place, positions.graph != nullptr, "the tensor belongs to no graph");
  checkAt(scope.place, positions.shape().rank() >= 1 && positions.shape().back() <= context,
          "there must be a learned position for each token of a sequence", "positions", positions.shape(), "context",
          context);
  const Tensor table = positions.graph->parameter("weight", {context, width}, init, /*decay=*/true, scope);
  return burin::embedding(table, positions, scope);
}

// Nothing to learn: sin(p / theta^(2i/width)) and the cosine of the same, for each pair of elements.
constexpr Tensor sinusoidal_positions(Tensor positions, int64_t width, const Scope &scope, double theta = 1e4) {
  const Tensor column = reshape(positions, Shape(positions.shape()).append(1), scope);
  return sinusoid(column, {.width = width, .theta = theta}, scope);
}

} // namespace burin::nn
