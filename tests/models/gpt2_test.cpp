// GPT-2: the published sizes, one embedding for both ends, and what decays.
#include "../../models/gpt2.cpp"

#include "support.h"

#include <cmath>

#include <gtest/gtest.h>

namespace {

using burin::Node;
using burin::test::nodeNamed;

TEST(Gpt2, HasThePublishedSizes) {
  EXPECT_EQ(burin::parameters(declare(Gpt2{}, {1, 8})), 124'439'808);
  EXPECT_EQ(burin::parameters(declare(medium, {1, 8})), 354'823'168);
  EXPECT_EQ(burin::parameters(declare(large, {1, 8})), 774'030'080);
  EXPECT_EQ(burin::parameters(declare(xl, {1, 8})), 1'557'611'200);
}

TEST(Gpt2, CountsByModule) {
  const burin::Graph graph = declare(Gpt2{}, {1, 8});
  EXPECT_EQ(burin::parameters_in(graph, "token_embeddings"), 50257 * 768);
  EXPECT_EQ(burin::parameters_in(graph, "position_embeddings"), 1024 * 768);
  EXPECT_EQ(burin::parameters_in(graph, "layers.1"), 12 * 768 * 768 + 13 * 768);
  EXPECT_EQ(burin::parameters_in(graph, "layers"), 12 * (12 * 768 * 768 + 13 * 768));
  EXPECT_EQ(burin::parameters_in(graph, "lm_head"), 0);
}

// Matrices decay; gains and biases do not.
TEST(Gpt2, DecaysItsMatrices) {
  for (const Node &node : declare(Gpt2{.layers = 2}, {1, 8}).nodes)
    if (node.role == Node::Role::parameter) {
      EXPECT_EQ(node.decay, node.shape.rank() == 2) << node.name.view();
    }
}

TEST(Gpt2, StartsSmallerWhereTheResidualPathIsAddedTo) {
  const burin::Graph graph = declare(Gpt2{}, {1, 8});
  EXPECT_EQ(nodeNamed(graph, "layers.0.attn.q_proj.weight").init.std, 0.02);
  EXPECT_EQ(nodeNamed(graph, "token_embeddings.weight").init.std, 0.02);
  for (const char *name : {"layers.0.attn.output_proj.weight", "layers.11.ffn.w2.weight"})
    EXPECT_DOUBLE_EQ(nodeNamed(graph, name).init.std, 0.02 / std::sqrt(24.0)) << name;
}

} // namespace
