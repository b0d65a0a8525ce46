// nn::transformer_block: attention and a feed-forward layer, each on a residual path, with the norms where the variant
// wants them.
#pragma once

#include "../ops/add.h"
#include "attention.h"
#include "dropout.h"
#include "gelu_feed_forward.h"
#include "layer_norm.h"
#include "rms_norm.h"
#include "swiglu.h"

namespace burin::nn {

enum class Norm { none, pre, post }; // pre: x + f(norm(x)); post: norm(x + f(x)); none: x + f(x)
enum class NormKind { rms, layer };
enum class FeedForward { swiglu, gelu };

struct Block {
  Attention attention;
  Norm norm = Norm::pre;
  NormKind norm_kind = NormKind::rms;
  FeedForward feed_forward = FeedForward::swiglu;
  int64_t hidden = 1;        // width inside the feed-forward layer
  GeluFeedForward gelu = {}; // for feed_forward == gelu
  Dropout dropout = {};      // of what each layer adds to the residual path; that of attention's weights is its own
};

constexpr Tensor norm(Tensor x, NormKind kind, const Scope &scope) {
  return kind == NormKind::layer ? layer_norm(x, scope) : rms_norm(x, scope);
}

constexpr Tensor transformer_block(Tensor x, Tensor positions, const Block &block, const Scope &scope) {
  const auto residual = [&](Tensor input, const Scope &inner, auto layer) {
    const Tensor change = layer(block.norm == Norm::pre ? norm(input, block.norm_kind, inner) : input);
    const Tensor sum = add(input, dropout(change, block.dropout, inner), scope);
    return block.norm == Norm::post ? norm(sum, block.norm_kind, inner) : sum;
  };
  x = residual(x, scope / "ln1",
               [&](Tensor input) { return attention(input, positions, block.attention, scope / "attn"); });
  return residual(x, scope / "ln2", [&](Tensor input) {
    return block.feed_forward == FeedForward::swiglu
               ? swiglu(input, block.hidden, scope / "ffn")
               : gelu_feed_forward(input, block.hidden, scope / "ffn", block.gelu);
  });
}

} // namespace burin::nn
