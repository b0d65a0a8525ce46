// nn::attention: causal self-attention with many heads, which may share keys and values in groups (Ainslie et al. 2023,
// GQA), written from primitives. Nothing here is special to the compiler: a
// variant with other element-wise work on the scores is found and fused just the same.
#pragma once

#include <optional>

#include "../ops/concat.h"
#include "../ops/greater_equal.h"
#include "../ops/mask.h"
#include "../ops/past.h"
#include "../ops/reshape.h"
#include "../ops/rope.h"
#include "../ops/scale.h"
#include "../ops/slice.h"
#include "../ops/softmax.h"
#include "../ops/tanh.h"
#include "../ops/transpose.h"
#include "dropout.h"
#include "linear.h"
#include "rms_norm.h"

namespace burin::nn {

struct Attention {
  int64_t heads = 1;
  std::optional<int64_t> kv_heads =
      std::nullopt; // heads of keys and values; query head h reads number h * kv_heads / heads
  std::optional<double> rope_theta = std::nullopt; // nullopt: no position information but the mask
  bool rope_half_split = false;                    // pairs (i, i + depth/2) instead of (2i, 2i + 1)
  bool qk_norm = false;                            // RMSNorm of each head's queries and keys (Dehghani et al. 2023)
  std::optional<double> softcap = std::nullopt;    // scores become cap tanh(score / cap) (Gemma 2)
  std::optional<Tensor> valid = std::nullopt;      // [batch, length], i32: no query sees a key where it is 0 (padding)
  Dropout dropout = {};                            // of the weights after the softmax
  bool fused_qkv = false;                          // one parameter for the three input projections
  Linear projection = {};                          // into q, k and v
  Linear output = {};                              // back onto the residual path
};

// 1 where a query may see a key: the key's position is not later. [length, length] for positions [length],
// [batch, 1, length, length] for [batch, length], so that it broadcasts over scores [batch, heads, length, length].
// With `sharing` heads to a key the queries of all of them lie one after the other: [..., sharing length, length].
constexpr Tensor causal(Tensor positions, const Scope &scope, int64_t sharing = 1) {
  const Shape shape = positions.shape();
  checkAt(scope.place, shape.rank() == 1 || shape.rank() == 2, "positions must be [length] or [batch, length]",
          "positions", shape);
  const int64_t length = shape.back(), rows = sharing * length;
  const bool batched = shape.rank() == 2;
  Tensor repeated = positions;
  for (int64_t i = 1; i < sharing; ++i)
    repeated = concat(repeated, positions, scope);
  if (batched && sharing > 1) // [sharing batch, length] -> [batch, sharing, length]
    repeated = transpose(reshape(repeated, {sharing, shape[0], length}, scope), {1, 0, 2}, scope);
  const Tensor query = reshape(repeated, batched ? Shape{shape[0], 1, rows, 1} : Shape{rows, 1}, scope);
  const Tensor key = reshape(positions, batched ? Shape{shape[0], 1, 1, length} : Shape{1, length}, scope);
  return greater_equal(query, key, scope);
}

// The projections of x into q, k and v.
struct Projected {
  Tensor q, k, v;
};

// As three parameters, or as one whose rows are q's, then k's, then v's. The rows are cut and not the results: they are
// fewer, and what follows is the same either way. `shared` is the width of keys and of values.
constexpr Projected projected(Tensor x, int64_t shared, const Attention &options, const Scope &scope) {
  const int64_t width = x.shape().back();
  if (!options.fused_qkv) {
    const Tensor q = linear(x, width, scope / "q_proj", options.projection);
    const Tensor k = linear(x, shared, scope / "k_proj", options.projection);
    return {q, k, linear(x, shared, scope / "v_proj", options.projection)};
  }
  const Scope inner = scope / "qkv_proj";
  const Initializer init = options.projection.init.value_or(linearInitializer(width, width));
  const Tensor weight = x.graph->parameter("weight", {width + 2 * shared, width}, init, /*decay=*/true, inner);
  Tensor bias{};
  if (options.projection.bias)
    bias = x.graph->parameter("bias", {width + 2 * shared}, constant(0), /*decay=*/false, inner);
  const auto part = [&](int64_t start, int64_t size) {
    const Slice rows = {.start = start, .size = size};
    const Tensor product = matmul(x, slice(weight, rows, inner), {.transpose_b = true}, inner);
    return options.projection.bias ? add(product, slice(bias, rows, inner), inner) : product;
  };
  const Tensor q = part(0, width), k = part(width, shared), v = part(width + shared, shared);
  return {q, k, v};
}

constexpr Tensor attention(Tensor x, Tensor positions, const Attention &options, const Scope &scope) {
  const Shape shape = x.shape();
  const int64_t heads = options.heads;
  checkAt(scope.place, shape.rank() == 3, "attention takes [batch, length, width]", "x", shape);
  const int64_t batch = shape[0], length = shape[1], width = shape[2];
  checkAt(scope.place, heads >= 1 && width % heads == 0, "the heads must divide the width", "heads", heads, "width",
          width);
  const int64_t depth = width / heads, shared = options.kv_heads.value_or(heads), sharing = heads / shared;
  checkAt(scope.place, shared >= 1 && heads % shared == 0, "the heads of keys must divide the heads", "kv_heads",
          shared, "heads", heads);

  // (batch, length, count depth) -> (batch, count, length, depth)
  const auto split = [&](Tensor whole, int64_t count) {
    return transpose(reshape(whole, {batch, length, count, depth}, scope), {0, 2, 1, 3}, scope);
  };
  const Projected inputs = projected(x, shared * depth, options, scope);
  Tensor q = split(inputs.q, heads), k = split(inputs.k, shared), v = split(inputs.v, shared);
  if (options.qk_norm) {
    q = rms_norm(q, scope / "q_norm");
    k = rms_norm(k, scope / "k_norm");
  }
  if (options.rope_theta) {
    const Rope rotation = {.theta = *options.rope_theta, .half_split = options.rope_half_split};
    q = rope(q, positions, rotation, scope);
    k = rope(k, positions, rotation, scope);
  }
  k = past(k, scope);
  v = past(v, scope);
  // Heads that share their keys are rows of one product.
  if (sharing > 1)
    q = reshape(q, {batch, shared, sharing * length, depth}, scope);

  Tensor scores = matmul(q, k, {.transpose_b = true}, scope);
  if (options.softcap) {
    checkAt(scope.place, *options.softcap > 0, "the softcap of attention must be positive", "softcap",
            *options.softcap);
    const double cap = *options.softcap;
    scores = scale(tanh(scale(scores, 1 / (cap * squareRoot(static_cast<double>(depth))), scope), scope), cap, scope);
  } else {
    scores = scale(scores, 1 / squareRoot(static_cast<double>(depth)), scope);
  }
  if (options.valid) {
    const Shape valid = options.valid->shape();
    checkAt(scope.place, valid == Shape{batch, length}, "valid must be [batch, length], one number for each key",
            "valid", valid, "batch", batch, "length", length);
    scores = mask(scores, reshape(*options.valid, {batch, 1, 1, length}, scope), scope);
  }
  const Tensor weights = softmax(mask(scores, causal(positions, scope, sharing), scope), scope);
  Tensor mixed = matmul(attention_dropout(weights, heads, options.dropout, scope), v, {}, scope);
  if (sharing > 1)
    mixed = reshape(mixed, {batch, heads, length, depth}, scope);
  mixed = transpose(mixed, {0, 2, 1, 3}, scope);
  return linear(reshape(mixed, shape, scope), width, scope / "output_proj", options.output);
}

} // namespace burin::nn
