// The Llama kind: its sizes, and where a forward pass goes at a short and at a long context.
#include "../../models/llama.cpp"

#include <gtest/gtest.h>

namespace {

using burin::FlopsByKind;

// The shape of GPT-2 XL.
constexpr Llama xl = {.width = 1600, .layers = 48, .heads = 25, .hidden = 4288};

// 2 V D + L (4 D^2 + 3 D H + 2 D) + D
constexpr int64_t counted(const Llama &m) {
  const int64_t d = m.width;
  return 2 * m.vocab * d + m.layers * (4 * d * d + 3 * d * m.hidden + 2 * d) + d;
}

void expectSize(const Llama &m, int64_t parameters) {
  EXPECT_EQ(counted(m), parameters);
  EXPECT_EQ(burin::parameters(declare(m, {1, 8})), parameters);
}

TEST(Llama, HasTheCountedSizes) {
  expectSize(Llama{}, 162'148'608);
  expectSize(medium, 406'539'264);
  expectSize(large, 833'591'040);
  expectSize(xl, 1'640'452'800);
  expectSize(course, 22'696'448);
  EXPECT_EQ(burin::parameters(declare(Llama{.tied = true}, {1, 8})), 162'148'608 - 50257 * 768);
  EXPECT_NEAR(static_cast<double>(burin::parameter_bytes(declare(xl, {1, 8}))) / 1e9, 6.56, 0.005);
}

// Keys and values of 4 heads instead of 12, and a gain for the queries and one for the keys of each layer.
TEST(Llama, SharesKeysAmongHeads) {
  const Llama grouped{.kv_heads = 4, .qk_norm = true, .tied = true};
  EXPECT_EQ(burin::parameters(declare(grouped, {1, 8})), 162'148'608 - 50257 * 768 - 12 * (2 * 768 * 512 - 2 * 64));
  // The scores are as many as before, so attention costs the same, causal or in full.
  const burin::Graph shared = declare(grouped, {2, 64}), own = declare({.tied = true}, {2, 64});
  EXPECT_EQ(burin::forward_flops(shared).attention, burin::forward_flops(own).attention);
  const int64_t fewer = 3 * 12 * 2 * (2 * 64) * int64_t(2 * 768 * 512);
  EXPECT_EQ(burin::flops(own) - burin::flops(shared), fewer);
  EXPECT_EQ(burin::flops_full_attention(own) - burin::flops_full_attention(shared), fewer);
}

// Percent of the forward pass of one sequence.
void expectShares(Llama m, int64_t length, double teraflops, double feedForward, double projections, double attention,
                  double head) {
  m.context = static_cast<int>(length);
  const FlopsByKind flops = burin::forward_flops(declare(m, {1, length}));
  const auto percent = [&](int64_t part) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(flops.total());
  };
  EXPECT_NEAR(static_cast<double>(flops.total()) / 1e12, teraflops, teraflops * 2e-3);
  EXPECT_NEAR(percent(flops.feed_forward), feedForward, 0.05);
  EXPECT_NEAR(percent(flops.projections), projections, 0.05);
  EXPECT_NEAR(percent(flops.attention), attention, 0.051);
  EXPECT_NEAR(percent(flops.head), head, 0.05);
}

TEST(Llama, SpendsItsFlopsOnFeedForwardLayersAtAShortContext) {
  expectShares(Llama{}, 1024, 0.2916, 39.8, 19.9, 13.3, 27.1);
  expectShares(medium, 1024, 0.8302, 50.1, 24.8, 12.4, 12.7);
  expectShares(large, 1024, 1.7685, 54.3, 27.3, 10.9, 7.4);
  expectShares(xl, 1024, 3.5168, 57.5, 28.6, 9.2, 4.7);
}

TEST(Llama, SpendsThemOnAttentionAtALongOne) {
  expectShares(Llama{}, 16384, 13.943, 13.3, 6.7, 71.0, 9.1);
  expectShares(xl, 16384, 133.58, 24.2, 12.1, 61.7, 2.0);
  EXPECT_NEAR(133.577 / 3.51677, 38, 0.05);
}

// A training step is three forward passes.
TEST(Llama, TheKindsAddUp) {
  for (const Llama &m : {Llama{}, course})
    EXPECT_EQ(3 * burin::forward_flops(declare(m, {2, 64})).total(), burin::flops_full_attention(declare(m, {2, 64})));
}

} // namespace
