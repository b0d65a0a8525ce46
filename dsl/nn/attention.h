// nn::attention: causal multi-head self-attention, written from primitives. Nothing here is special to the compiler: a
// variant with other element-wise work on the scores is found and fused just the same.
#pragma once

#include <optional>

#include "../ops/greater_equal.h"
#include "../ops/mask.h"
#include "../ops/past.h"
#include "../ops/reshape.h"
#include "../ops/rope.h"
#include "../ops/scale.h"
#include "../ops/slice.h"
#include "../ops/softmax.h"
#include "../ops/transpose.h"
#include "linear.h"

namespace burin::nn {

struct Attention {
  int64_t heads = 1;
  std::optional<double> rope_theta = std::nullopt; // nullopt: no position information but the mask
  bool fused_qkv = false;                          // one parameter for the three input projections
  Linear projection = {};                          // into q, k and v
  Linear output = {};                              // back onto the residual path
};

// 1 where a query may see a key: the key's position is not later. [length, length] for positions [length],
// [batch, 1, length, length] for [batch, length], so that it broadcasts over scores [batch, heads, length, length].
constexpr Tensor causal(Tensor positions, const Scope &scope) {
  const Shape shape = positions.shape();
  checkAt(scope.place, shape.rank() == 1 || shape.rank() == 2, "positions must be [length] or [batch, length]",
          "positions", shape);
  const int64_t length = shape.back();
  const bool batched = shape.rank() == 2;
  const Tensor query = reshape(positions, batched ? Shape{shape[0], 1, length, 1} : Shape{length, 1}, scope);
  const Tensor key = reshape(positions, batched ? Shape{shape[0], 1, 1, length} : Shape{1, length}, scope);
  return greater_equal(query, key, scope);
}

// The projections of x into q, k and v.
struct Projected {
  Tensor q, k, v;
};

// As three parameters, or as one whose rows are q's, then k's, then v's. The rows are cut and not the results: they are
// fewer, and what follows is the same either way.
constexpr Projected projected(Tensor x, const Attention &options, const Scope &scope) {
  const int64_t width = x.shape().back();
  if (!options.fused_qkv)
    return {linear(x, width, scope / "q_proj", options.projection),
            linear(x, width, scope / "k_proj", options.projection),
            linear(x, width, scope / "v_proj", options.projection)};
  const Scope inner = scope / "qkv_proj";
  const Initializer init = options.projection.init.value_or(linearInitializer(width, width));
  const Tensor weight = x.graph->parameter("weight", {3 * width, width}, init, /*decay=*/true, inner);
  Tensor bias{};
  if (options.projection.bias)
    bias = x.graph->parameter("bias", {3 * width}, constant(0), /*decay=*/false, inner);
  const auto part = [&](int64_t index) {
    const Slice rows = {.start = index * width, .size = width};
    const Tensor product = matmul(x, slice(weight, rows, inner), {.transpose_b = true}, inner);
    return options.projection.bias ? add(product, slice(bias, rows, inner), inner) : product;
  };
  const Tensor q = part(0), k = part(1), v = part(2);
  return {q, k, v};
}

constexpr Tensor attention(Tensor x, Tensor positions, const Attention &options, const Scope &scope) {
  const Shape shape = x.shape();
  const int64_t heads = options.heads;
  checkAt(scope.place, shape.rank() == 3, "attention takes [batch, length, width]", "x", shape);
  const int64_t batch = shape[0], length = shape[1], width = shape[2];
  checkAt(scope.place, heads >= 1 && width % heads == 0, "the heads must divide the width", "heads", heads, "width",
          width);
  const int64_t depth = width / heads;

  // (batch, length, width) -> (batch, heads, length, depth)
  const auto split = [&](Tensor whole) {
    return transpose(reshape(whole, {batch, length, heads, depth}, scope), {0, 2, 1, 3}, scope);
  };
  const Projected inputs = projected(x, options, scope);
  Tensor q = split(inputs.q), k = split(inputs.k), v = split(inputs.v);
  if (options.rope_theta) {
    q = rope(q, positions, {.theta = *options.rope_theta}, scope);
    k = rope(k, positions, {.theta = *options.rope_theta}, scope);
  }
  k = past(k, scope);
  v = past(v, scope);

  const Tensor products = matmul(q, k, {.transpose_b = true}, scope);
  const Tensor scores = scale(products, 1 / squareRoot(static_cast<double>(depth)), scope);
  const Tensor weights = softmax(mask(scores, causal(positions, scope), scope), scope);
  const Tensor mixed = transpose(matmul(weights, v, {}, scope), {0, 2, 1, 3}, scope);
  return linear(reshape(mixed, shape, scope), width, scope / "output_proj", options.output);
}

} // namespace burin::nn
