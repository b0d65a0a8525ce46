// TinyGPT: one parameter for the three input projections, biases everywhere, and a vocabulary that a text may fill.
#include "../../models/tiny_gpt.cpp"

#include "support.h"

#include <gtest/gtest.h>

namespace {

using burin::test::nodeNamed;

TEST(TinyGpt, HasOneParameterForTheInputProjections) {
  const burin::Graph graph = declare(TinyGpt{}, {1, 8});
  EXPECT_EQ(nodeNamed(graph, "layers.0.attn.qkv_proj.weight").shape, (burin::Shape{192, 64}));
  EXPECT_EQ(nodeNamed(graph, "layers.0.attn.qkv_proj.bias").shape, (burin::Shape{192}));
  EXPECT_FALSE(nodeNamed(graph, "layers.0.attn.qkv_proj.bias").decay);
  EXPECT_EQ(nodeNamed(graph, "lm_head.weight").shape, (burin::Shape{23, 64}));
}

TEST(TinyGpt, RefusesASequenceWithoutPositions) {
  EXPECT_EQ(burin::test::messageOf([] {
              (void)declare(TinyGpt{}, {1, 33});
            }),
            "there must be a learned position for each token of a sequence: positions is [33], context is 32");
}

} // namespace
