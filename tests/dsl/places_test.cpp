// Places: every node knows the line of the model and the line that applied the op, under both compilers.
#include "support.h"

#include <gtest/gtest.h>

namespace burin {
namespace {

// A layer as a user would write one: it hands its scope down.
constexpr uint32_t layerLine = __LINE__ + 1;
constexpr Tensor twice(Tensor x, const Scope &scope) { return add(x, x, scope); }

struct Lines {
  Graph graph;
  uint32_t input = 0, function = 0, operators = 0, layer = 0, deep = 0, parameter = 0;
};

constexpr Lines declare() {
  Lines lines;
  Graph &graph = lines.graph;
  lines.input = __LINE__ + 1;
  const Tensor x = graph.input("x", {2, 4}, Dtype::f32);
  lines.parameter = __LINE__ + 1;
  const Tensor w = graph.parameter("w", {4}, constant(1), false);
  lines.function = __LINE__ + 1;
  const Tensor y = exp(x);
  lines.operators = __LINE__ + 1;
  const Tensor z = y * w + x;
  lines.layer = __LINE__ + 1;
  const Tensor t = twice(z, "twice");
  lines.deep = __LINE__ + 1;
  nn::swiglu(t, 8, Scope("layers") / 3 / "ffn");
  return lines;
}

constexpr const Node &last(const Graph &graph, std::string_view mnemonic) {
  const Node *found = nullptr;
  for (const Node &node : graph.nodes)
    if (node.mnemonic == mnemonic && node.scope != "twice")
      found = &node;
  return *found;
}

constexpr bool here(const Place &place, uint32_t line) {
  return place.file.ends_with("places_test.cpp") && place.line == line && place.column > 0;
}

// An input, a parameter, a function and an operator that are written in the model stand there, on both accounts.
static_assert([] {
  const Lines lines = declare();
  const Node &x = test::nodeNamed(lines.graph, "x"), &w = test::nodeNamed(lines.graph, "w");
  return here(x.place, lines.input) && x.layer == x.place && here(w.place, lines.parameter) && w.layer == w.place;
}());
static_assert([] {
  const Lines lines = declare();
  const Node &node = last(lines.graph, "exp");
  return here(node.place, lines.function) && node.layer == node.place && node.scope.empty();
}());
static_assert([] {
  const Lines lines = declare();
  const Node &sum = last(lines.graph, "add");
  return here(sum.place, lines.operators) && sum.layer == sum.place;
}());

// What a layer applies has the layer's line and, as its place, the model's.
static_assert([] {
  const Lines lines = declare();
  for (const Node &node : lines.graph.nodes)
    if (node.scope == "twice")
      return here(node.place, lines.layer) && here(node.layer, layerLine);
  return false;
}());

// A layer inside a layer of dsl/nn still has the model's line.
static_assert([] {
  const Lines lines = declare();
  const Node &silu = last(lines.graph, "silu"), &product = last(lines.graph, "matmul");
  return here(silu.place, lines.deep) && silu.scope == "layers.3.ffn" && silu.layer.file.ends_with("nn/swiglu.h") &&
         here(product.place, lines.deep) && product.scope == "layers.3.ffn.w2" &&
         product.layer.file.ends_with("nn/linear.h");
}());

// The same holds at run time.
TEST(Places, AreTheSameAtRunTime) {
  const Lines lines = declare();
  EXPECT_EQ(test::nodeNamed(lines.graph, "x").place.line, lines.input);
  EXPECT_EQ(last(lines.graph, "exp").place.line, lines.function);
  EXPECT_EQ(last(lines.graph, "add").place.line, lines.operators);
  EXPECT_EQ(last(lines.graph, "silu").place.line, lines.deep);
  EXPECT_EQ(test::nodeNamed(lines.graph, "layers.3.ffn.w1.weight").place.line, lines.deep);
  EXPECT_TRUE(describe(test::nodeNamed(lines.graph, "x").place).find("places_test.cpp:") != std::string::npos);
}

} // namespace
} // namespace burin
