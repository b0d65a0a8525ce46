// The graph: names, roles, outputs, and what it refuses.
#include "support.h"

#include <string>

#include <gtest/gtest.h>

namespace burin {
namespace {

using test::messageOf;

constexpr Graph declareSmall() {
  Graph graph;
  const Tensor x = graph.input("x", {2, 4}, Dtype::f32);
  const Tensor w = graph.parameter("weight", {4}, truncatedNormal(0.5, 3), true, Scope("layers") / 0 / "proj");
  graph.output("loss", reduce_sum(scale(x * w, 0.5), {.dims = {0, 1}}));
  return graph;
}

// Nodes stand in the order of their making, so that operands have smaller ids.
static_assert([] {
  const Graph graph = declareSmall();
  const Node &x = graph.nodes[0], &w = graph.nodes[1], &product = graph.nodes[2];
  return graph.nodes.size() == 5 && x.role == Node::Role::input && x.name == "x" && x.shape == Shape{2, 4} &&
         w.role == Node::Role::parameter && w.name == "layers.0.proj.weight" && w.decay && w.init.std == 0.5 &&
         product.role == Node::Role::op && product.mnemonic == "mul" && product.operands == std::vector<int>{0, 1};
}());

// Attributes carry the names of the struct's fields.
static_assert([] {
  const Graph graph = declareSmall();
  const Attribute &factor = graph.nodes[3].attributes[0], &dims = graph.nodes[4].attributes[0],
                  &keep = graph.nodes[4].attributes[1];
  return factor.name == "factor" && factor.kind == Attribute::Kind::real && factor.real == 0.5 && dims.name == "dims" &&
         dims.kind == Attribute::Kind::integers && dims.integers == Shape{0, 1} && keep.name == "keep_dims" &&
         keep.kind == Attribute::Kind::boolean && keep.integer == 0;
}());

static_assert([] {
  const Graph graph = declareSmall();
  return graph.findOutput("loss")->node == 4 && graph.findOutput("logits") == nullptr;
}());

// Each way to start sets its own numbers and no others.
static_assert(constant(1).mean == 1 && constant(1).std == 0 && uniform(0.1).std == 0.1 && normal(2).cut == 0);

// The table of names grows with them; each one is still found.
TEST(Graph, ThousandNamesAreDistinct) {
  Graph graph;
  for (int i = 0; i < 1000; ++i)
    graph.parameter("weight", {1}, constant(0), false, Scope("layers") / i);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(messageOf([&] {
                Graph copy = graph;
                copy.parameter("weight", {1}, constant(0), false, Scope("layers") / i);
              }),
              "two inputs or parameters must not share a name: name is layers." + std::to_string(i) + ".weight");
}

TEST(Graph, AnInputAndAParameterDoNotShareAName) {
  Graph graph;
  graph.input("x", {1}, Dtype::f32);
  EXPECT_EQ(messageOf([&] { graph.parameter("x", {1}, constant(0), false); }),
            "two inputs or parameters must not share a name: name is x");
  EXPECT_EQ(messageOf([&] { graph.input("", {1}, Dtype::f32); }), "an input or parameter must have a name");
}

TEST(Graph, OutputsHaveDistinctNames) {
  Graph graph;
  const Tensor x = graph.input("x", {}, Dtype::f32);
  graph.output("loss", x);
  EXPECT_EQ(messageOf([&] { graph.output("loss", x); }), "two outputs must not share a name: name is loss");
}

TEST(Graph, LossIsOneF32Number) {
  Graph graph;
  const Tensor count = graph.input("count", {}, Dtype::i32), x = graph.input("x", {1}, Dtype::f32);
  EXPECT_EQ(messageOf([&] { graph.output("loss", count); }),
            "the output named loss must be an f32 scalar: shape is [], dtype is i32");
  EXPECT_EQ(messageOf([&] { graph.output("loss", x); }),
            "the output named loss must be an f32 scalar: shape is [1], dtype is f32");
}

TEST(Graph, SizesAreSane) {
  Graph graph;
  EXPECT_EQ(messageOf([&] {
              graph.input("x", {2, -1}, Dtype::f32);
            }),
            "every dimension must be at least 1: shape is [2, -1]");
  EXPECT_EQ(messageOf([&] {
              graph.input("x", {int64_t(1) << 20, (int64_t(1) << 20) + 1}, Dtype::f32);
            }),
            "a tensor may have at most 2^40 elements: shape is [1048576, 1048577]");
  // Far beyond 64 bits, without wrapping around.
  EXPECT_EQ(messageOf([&] {
              graph.input("x", {int64_t(1) << 62, 4, 2}, Dtype::f32);
            }),
            "a tensor may have at most 2^40 elements: shape is [4611686018427387904, 4, 2]");
}

TEST(Graph, InitializersHaveNoNegativeSpread) {
  Graph graph;
  EXPECT_EQ(messageOf([&] { graph.parameter("w", {1}, normal(-1), false); }),
            "the spread of an initializer must not be negative: std is -1.000000, cut is 0.000000");
}

TEST(Graph, TensorsStayInTheirGraph) {
  Graph graph, other;
  const Tensor x = graph.input("x", {1}, Dtype::f32), y = other.input("y", {1}, Dtype::f32);
  EXPECT_EQ(messageOf([&] { (void)(x + y); }), "the tensors of an op must belong to one graph");
  EXPECT_EQ(messageOf([&] { (void)(Tensor{} + y); }), "the tensor belongs to no graph");
  EXPECT_EQ(messageOf([&] { graph.output("y", y); }), "the tensors of an op must belong to one graph");
}

} // namespace
} // namespace burin
