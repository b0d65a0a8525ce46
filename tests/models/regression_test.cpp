// Regressions: two parameters for a line, and a loss that is a sum over the rows that count.
#include "../../models/regression.cpp"

#include "support.h"

#include <gtest/gtest.h>

namespace {

TEST(Regression, ALineHasTwoParameters) {
  const burin::Graph graph = declare(Mlp{.layers = 0}, {3, 1});
  EXPECT_EQ(burin::parameters(graph), 2);
  EXPECT_TRUE(burin::test::nodeNamed(graph, "out.weight").decay);
  EXPECT_FALSE(burin::test::nodeNamed(graph, "out.bias").decay);
}

TEST(Regression, AllProductsButTheLastAreLayers) {
  const burin::FlopsByKind flops = burin::forward_flops(declare(Mlp{}, {128, 1}));
  EXPECT_EQ(flops.feed_forward, 2 * 128 * (64 + 64 * 64));
  EXPECT_EQ(flops.head, 2 * 128 * 64);
  EXPECT_EQ(flops.projections + flops.attention, 0);
}

TEST(SquaredError, ChecksItsInput) {
  burin::Graph graph;
  const burin::Tensor p = graph.input("p", {3, 1}, burin::Dtype::f32), t = graph.input("t", {3, 2}, burin::Dtype::f32),
                      w = graph.input("w", {2, 1}, burin::Dtype::f32);
  EXPECT_EQ(
      burin::test::messageOf([&] { burin::nn::squared_error(p, t, w); }),
      "a squared error needs predictions and targets of one shape, [rows, width]: prediction is [3, 1], target is "
      "[3, 2]");
  EXPECT_EQ(burin::test::messageOf([&] { burin::nn::squared_error(p, p, w); }),
            "the weights of a squared error are [rows, 1]: weights is [2, 1], prediction is [3, 1]");
}

} // namespace
