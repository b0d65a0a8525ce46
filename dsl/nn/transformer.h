// nn::transformer_block: attention and a feed-forward layer, each on a residual path, with the norms where the variant
// wants them.
#pragma once

#include "../ops/add.h"
#include "attention.h"
#include "gelu_feed_forward.h"
#include "rms_norm.h"
#include "swiglu.h"

namespace burin::nn {

enum class Norm { none, pre, post }; // pre: x + f(norm(x)); post: norm(x + f(x)); none: x + f(x)
enum class FeedForward { swiglu, gelu };

struct Block {
  Attention attention;
  Norm norm = Norm::pre;
  FeedForward feed_forward = FeedForward::swiglu;
  int64_t hidden = 1; // width inside the feed-forward layer
};

constexpr Tensor transformer_block(Tensor x, Tensor positions, const Block &block, const Scope &scope) {
  const auto residual = [&](Tensor input, const Scope &norm, auto layer) {
    const Tensor inner = layer(block.norm == Norm::pre ? rms_norm(input, norm) : input);
    const Tensor sum = add(input, inner, scope);
    return block.norm == Norm::post ? rms_norm(sum, norm) : sum;
  };
  x = residual(x, scope / "ln1",
               [&](Tensor input) { return attention(input, positions, block.attention, scope / "attn"); });
  return residual(x, scope / "ln2", [&](Tensor input) {
    return block.feed_forward == FeedForward::swiglu ? swiglu(input, block.hidden, scope / "ffn")
                                                     : gelu_feed_forward(input, block.hidden, scope / "ffn");
  });
}

} // namespace burin::nn
