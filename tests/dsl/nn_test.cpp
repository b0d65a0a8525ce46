// The layers: their parameters by name, shape, start and decay, and the primitives they are made of.
#include "support.h"

#include <gtest/gtest.h>

namespace burin {
namespace {

using test::messageOf;
using test::nodeNamed;

constexpr Graph declareBlock(const nn::Block &block) {
  Graph graph;
  const Tensor x = graph.input("x", {2, 6, 16}, Dtype::f32);
  const Tensor positions = graph.input("positions", {6}, Dtype::i32);
  nn::transformer_block(x, positions, block, Scope("layers") / 0);
  return graph;
}

constexpr nn::Block small = {.attention = {.heads = 4, .rope_theta = 1e4}, .hidden = 24};

constexpr nn::Block with(nn::Norm norm, nn::FeedForward feedForward) {
  nn::Block block = small;
  block.norm = norm;
  block.feed_forward = feedForward;
  return block;
}

constexpr int count(const Graph &graph, std::string_view mnemonic) {
  int found = 0;
  for (const Node &node : graph.nodes)
    found += node.mnemonic == mnemonic;
  return found;
}

constexpr int firstOf(const Graph &graph, std::string_view mnemonic) {
  for (int id = 0; id < static_cast<int>(graph.nodes.size()); ++id)
    if (graph.nodes[id].mnemonic == mnemonic)
      return id;
  return -1;
}

// Weights are (out, in), truncated normal and decayed; gains are ones and not decayed.
static_assert([] {
  const Graph graph = declareBlock(small);
  const Node &gate = nodeNamed(graph, "layers.0.ffn.w1.weight"), &gain = nodeNamed(graph, "layers.0.ln2.weight");
  return gate.shape == Shape{24, 16} && gate.decay && gate.init.kind == Initializer::Kind::truncated_normal &&
         gate.init.std == squareRoot(2.0 / 40) && gate.init.cut == 3 && gain.shape == Shape{16} && !gain.decay &&
         gain.init.kind == Initializer::Kind::constant && gain.init.mean == 1;
}());

TEST(TransformerBlock, NamesItsParameters) {
  const Graph graph = declareBlock(small);
  std::vector<std::string_view> names;
  for (const Node &node : graph.nodes)
    if (node.role == Node::Role::parameter)
      names.push_back(node.name);
  const std::vector<std::string_view> expected = {
      "layers.0.ln1.weight",         "layers.0.attn.q_proj.weight",      "layers.0.attn.k_proj.weight",
      "layers.0.attn.v_proj.weight", "layers.0.attn.output_proj.weight", "layers.0.ln2.weight",
      "layers.0.ffn.w1.weight",      "layers.0.ffn.w3.weight",           "layers.0.ffn.w2.weight"};
  EXPECT_EQ(names, expected);
}

// Only primitives, so that a variant of a user's own is no different from these.
TEST(Attention, IsMadeOfPrimitives) {
  const Graph graph = declareBlock(small);
  EXPECT_EQ(count(graph, "matmul"), 4 + 2 + 3);
  EXPECT_EQ(count(graph, "softmax"), 1);
  EXPECT_EQ(count(graph, "mask"), 1);
  EXPECT_EQ(count(graph, "greater_equal"), 1);
  EXPECT_EQ(count(graph, "rope"), 2);
  EXPECT_EQ(count(graph, "past"), 2);
  EXPECT_EQ(graph.nodes[firstOf(graph, "greater_equal")].shape, (Shape{6, 6}));
  EXPECT_EQ(graph.nodes[firstOf(graph, "softmax")].shape, (Shape{2, 4, 6, 6}));
  EXPECT_EQ(graph.nodes[firstOf(graph, "scale")].attributes[0].real, 0.5);
}

TEST(Attention, WithoutThetaHasNoRope) {
  nn::Block block = small;
  block.attention.rope_theta = std::nullopt;
  EXPECT_EQ(count(declareBlock(block), "rope"), 0);
}

// Positions of each sequence make a mask for each sequence, the same for all heads.
TEST(Attention, TakesPositionsOfEachSequence) {
  Graph graph;
  const Tensor x = graph.input("x", {2, 6, 16}, Dtype::f32);
  const Tensor positions = graph.input("positions", {2, 6}, Dtype::i32);
  nn::attention(x, positions, {.heads = 4, .rope_theta = 1e4}, "attn");
  EXPECT_EQ(graph.nodes[firstOf(graph, "greater_equal")].shape, (Shape{2, 1, 6, 6}));
}

// A second mask, for each sequence its own, the same for all heads and queries; the products still count as causal.
TEST(Attention, TakesMarksOfPadding) {
  Graph graph;
  const Tensor x = graph.input("x", {2, 6, 16}, Dtype::f32);
  const Tensor positions = graph.input("positions", {6}, Dtype::i32), valid = graph.input("valid", {2, 6}, Dtype::i32);
  nn::Block block = small;
  block.attention.valid = valid;
  nn::transformer_block(x, positions, block, "block");
  EXPECT_EQ(count(graph, "mask"), 2);
  EXPECT_EQ(graph.nodes[graph.nodes[firstOf(graph, "mask")].operands[1]].shape, (Shape{2, 1, 1, 6}));
  EXPECT_EQ(flops(graph), flops(declareBlock(small)));
  const Tensor real = graph.input("real", {2, 6}, Dtype::f32);
  EXPECT_EQ(messageOf([&] { nn::attention(x, positions, {.heads = 4, .valid = positions}, "a"); }),
            "valid must be [batch, length], one number for each key: valid is [6], batch is 2, length is 6");
  EXPECT_EQ(messageOf([&] { nn::attention(x, positions, {.heads = 4, .valid = real}, "b"); }),
            "mask takes f32 scores and an i32 keep: scores is f32, keep is f32");
}

// Of the weights, each by a key of its own row; in groups that share their keys, the rows of a head lie together.
TEST(Attention, DropsOutWeights) {
  for (int64_t groups : {4, 2}) {
    Graph graph;
    const Tensor x = graph.input("x", {2, 6, 16}, Dtype::f32);
    const Tensor positions = graph.input("positions", {6}, Dtype::i32);
    const nn::Dropout dropout = nn::dropout_inputs(graph, 2, positions, 0.1);
    nn::attention(x, positions, {.heads = 4, .kv_heads = groups, .dropout = dropout}, "attn");
    EXPECT_EQ(graph.nodes[firstOf(graph, "dropout_keys")].shape, (Shape{2, 6, 4}));
    const Node &factors = graph.nodes[firstOf(graph, "dropout_by_key")];
    EXPECT_EQ(factors.shape, (Shape{2, groups, 24 / groups, 6}));
    EXPECT_EQ(factors.attributes[0].real, 0.1);
    EXPECT_LT(firstOf(graph, "softmax"), firstOf(graph, "dropout_by_key"));
    const Tensor some = graph.input("some", {5}, Dtype::i32);
    EXPECT_EQ(messageOf([&] {
                nn::attention(x, positions, {.heads = 4, .dropout = {0.1, dropout.rows, some, dropout.key}}, "a");
              }),
              "the positions of dropout are [length]: positions is [5], length is 6");
    EXPECT_EQ(messageOf([&] {
                nn::attention(x, positions, {.heads = 4, .dropout = {1, dropout.rows, positions, dropout.key}}, "b");
              }),
              "the rate of dropout must lie in [0, 1): rate is 1.000000");
  }
  EXPECT_EQ(count(declareBlock(small), "dropout_by_key"), 0);
}

TEST(Attention, ChecksItsInput) {
  Graph graph;
  const Tensor x = graph.input("x", {6, 16}, Dtype::f32), y = graph.input("y", {2, 6, 16}, Dtype::f32);
  const Tensor positions = graph.input("positions", {6}, Dtype::i32), cube = graph.input("cube", {1, 2, 3}, Dtype::i32);
  EXPECT_EQ(messageOf([&] { nn::attention(x, positions, {.heads = 4}, "a"); }),
            "attention takes [batch, length, width]: x is [6, 16]");
  EXPECT_EQ(messageOf([&] { nn::attention(y, positions, {.heads = 0}, "b"); }),
            "the heads must divide the width: heads is 0, width is 16");
  EXPECT_EQ(messageOf([&] { nn::attention(y, cube, {.heads = 4}, "c"); }),
            "positions must be [length] or [batch, length]: positions is [1, 2, 3]");
}

TEST(Linear, ChecksItsInput) {
  Graph graph;
  const Tensor x = graph.input("x", {16}, Dtype::f32), y = graph.input("y", {6, 16}, Dtype::f32);
  EXPECT_EQ(messageOf([&] { nn::linear(x, 4, "a"); }), "a linear layer takes [..., rows, width]: x is [16]");
  EXPECT_EQ(messageOf([&] { nn::linear(y, 0, "b"); }), "the width of a linear layer must be at least 1: width is 0");
}

// Pre: norm, layer, sum. Post: layer, sum, norm. None: no norm at all.
TEST(TransformerBlock, PutsTheNormsWhereTheVariantWantsThem) {
  const Graph pre = declareBlock(with(nn::Norm::pre, nn::FeedForward::swiglu));
  const Graph post = declareBlock(with(nn::Norm::post, nn::FeedForward::swiglu));
  EXPECT_LT(firstOf(pre, "rms_norm"), firstOf(pre, "matmul"));
  EXPECT_GT(firstOf(post, "rms_norm"), firstOf(post, "add"));
  EXPECT_EQ(post.nodes.back().mnemonic, "rms_norm");
  EXPECT_EQ(pre.nodes.back().mnemonic, "add");
  EXPECT_EQ(count(declareBlock(with(nn::Norm::none, nn::FeedForward::swiglu)), "rms_norm"), 0);
}

TEST(TransformerBlock, GeluReplacesTheGate) {
  const Graph graph = declareBlock(with(nn::Norm::pre, nn::FeedForward::gelu));
  EXPECT_EQ(count(graph, "gelu"), 1);
  EXPECT_EQ(count(graph, "silu"), 0);
  EXPECT_EQ(parameters(graph), 4 * 16 * 16 + 2 * 24 * 16 + 2 * 16);
}

// Three matrices under one another, cut where they are used; the same products as with three parameters.
TEST(Attention, FusedProjectionsAreOneParameter) {
  nn::Block block = small;
  block.attention.fused_qkv = true;
  block.attention.projection.bias = block.attention.output.bias = true;
  const Graph graph = declareBlock(block);
  EXPECT_EQ(nodeNamed(graph, "layers.0.attn.qkv_proj.weight").shape, (Shape{48, 16}));
  EXPECT_EQ(nodeNamed(graph, "layers.0.attn.qkv_proj.weight").init.std, squareRoot(2.0 / 32));
  EXPECT_EQ(nodeNamed(graph, "layers.0.attn.output_proj.bias").shape, (Shape{16}));
  EXPECT_EQ(count(graph, "slice"), 6);
  EXPECT_EQ(count(graph, "matmul"), 4 + 2 + 3);
  EXPECT_EQ(parameters_in(graph, "layers.0.attn"), 4 * 16 * 16 + 4 * 16);
}

// The queries of heads that share a key are rows of one product; the mask repeats the positions.
TEST(Attention, HeadsMayShareKeys) {
  nn::Block block = small;
  block.attention.heads = 4;
  block.attention.kv_heads = 2;
  const Graph graph = declareBlock(block);
  EXPECT_EQ(nodeNamed(graph, "layers.0.attn.k_proj.weight").shape, (Shape{8, 16}));
  EXPECT_EQ(nodeNamed(graph, "layers.0.attn.v_proj.weight").shape, (Shape{8, 16}));
  EXPECT_EQ(parameters_in(graph, "layers.0.attn"), 2 * 16 * 16 + 2 * 8 * 16);
  EXPECT_EQ(count(graph, "concat"), 1);
  block.attention.fused_qkv = true;
  EXPECT_EQ(nodeNamed(declareBlock(block), "layers.0.attn.qkv_proj.weight").shape, (Shape{32, 16}));
  block.attention.kv_heads = 3;
  EXPECT_EQ(messageOf([&] { declareBlock(block); }),
            "the heads of keys must divide the heads: kv_heads is 3, heads is 4");
}

TEST(Attention, NormsOfQueriesAndKeysHaveAGainPerElementOfAHead) {
  nn::Block block = small;
  block.attention.qk_norm = true;
  block.attention.softcap = 0;
  EXPECT_EQ(messageOf([&] { declareBlock(block); }), "the softcap of attention must be positive: softcap is 0.000000");
  block.attention.softcap = 5;
  const Graph graph = declareBlock(block);
  const int64_t depth = 16 / block.attention.heads;
  EXPECT_EQ(nodeNamed(graph, "layers.0.attn.q_norm.weight").shape, Shape{depth});
  EXPECT_EQ(nodeNamed(graph, "layers.0.attn.k_norm.weight").shape, Shape{depth});
  EXPECT_EQ(count(graph, "tanh"), 1);
}

TEST(Linear, BiasStartsAtZeroAndDoesNotDecay) {
  Graph graph;
  const Tensor x = graph.input("x", {6, 16}, Dtype::f32);
  nn::linear(x, 4, "out", {.bias = true, .init = normal(0.5)});
  const Node &bias = nodeNamed(graph, "out.bias"), &weight = nodeNamed(graph, "out.weight");
  EXPECT_EQ(bias.shape, Shape{4});
  EXPECT_FALSE(bias.decay);
  EXPECT_EQ(bias.init.mean, 0);
  EXPECT_EQ(weight.init.kind, Initializer::Kind::normal);
  EXPECT_EQ(weight.init.std, 0.5);
}

// The norm of what is left after the mean is taken away.
TEST(LayerNorm, IsMadeOfPrimitives) {
  Graph graph;
  const Tensor x = graph.input("x", {2, 6, 16}, Dtype::f32);
  EXPECT_EQ(nn::layer_norm(x, "ln").shape(), x.shape());
  EXPECT_EQ(count(graph, "reduce_sum"), 1);
  EXPECT_EQ(count(graph, "rms_norm"), 1);
  EXPECT_EQ(graph.nodes[firstOf(graph, "scale")].attributes[0].real, 1.0 / 16);
  EXPECT_EQ(nodeNamed(graph, "ln.weight").init.mean, 1);
  EXPECT_EQ(nodeNamed(graph, "ln.bias").init.mean, 0);
  EXPECT_FALSE(nodeNamed(graph, "ln.bias").decay || nodeNamed(graph, "ln.weight").decay);
}

TEST(TransformerBlock, TakesEitherNorm) {
  nn::Block block = small;
  block.norm_kind = nn::NormKind::layer;
  const Graph graph = declareBlock(block);
  EXPECT_EQ(count(graph, "reduce_sum"), 2);
  EXPECT_EQ(parameters_in(graph, "layers.0.ln1"), 2 * 16);
}

TEST(Positions, LearnedOnesAreRowsOfAMatrix) {
  Graph graph;
  const Tensor positions = graph.input("positions", {6}, Dtype::i32);
  EXPECT_EQ(nn::learned_positions(positions, 8, 4, "at").shape(), (Shape{6, 4}));
  EXPECT_TRUE(nodeNamed(graph, "at.weight").decay);
  EXPECT_EQ(messageOf([&] { nn::learned_positions(positions, 5, 4, "few"); }),
            "there must be a learned position for each token of a sequence: positions is [6], context is 5");
}

TEST(Positions, SinusoidalOnesHaveNoParameters) {
  Graph graph;
  const Tensor positions = graph.input("positions", {2, 6}, Dtype::i32);
  EXPECT_EQ(nn::sinusoidal_positions(positions, 4, "at").shape(), (Shape{2, 6, 4}));
  EXPECT_EQ(parameters(graph), 0);
  EXPECT_EQ(messageOf([&] { nn::sinusoidal_positions(positions, 5, "odd"); }),
            "a sinusoid is made of pairs, so its width must be even: width is 5");
}

// A tie is one Tensor used twice: one parameter, counted once.
static_assert([] {
  Graph graph;
  const Tensor ids = graph.input("ids", {2, 6}, Dtype::i32);
  const Tensor table = graph.parameter("token_embeddings.weight", {32, 16}, normal(0.02), true);
  const Tensor logits = matmul(embedding(table, ids), table, {.transpose_b = true});
  return parameters(graph) == 32 * 16 && logits.shape() == Shape{2, 6, 32};
}());

} // namespace
} // namespace burin
