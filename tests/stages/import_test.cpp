// What the module of stage `imported` says about a model: entries, arguments, places in buffers, bounds, locations, and
// what is refused.
#include "mlir/IR/Diagnostics.h"
#include "passes/ir/place.h"
#include "tests/stages/small_model.h"
#include "tests/support/gradient.h"
#include "tests/support/program.h"
#include "gtest/gtest.h"

namespace burin::test {

namespace {

std::vector<std::string> names(const std::vector<Slot> &slots, const std::string &role) {
  std::vector<std::string> found;
  for (const Slot &slot : slots)
    if (slot.role == role)
      found.push_back(slot.name);
  return found;
}

using Names = std::vector<std::string>;

// The diagnostics while `body` runs.
std::string diagnosticsOf(const std::function<void()> &body) {
  std::string text;
  mlir::ScopedDiagnosticHandler handler(&context(), [&](mlir::Diagnostic &diagnostic) {
    text += diagnostic.str() + "\n";
    return mlir::success();
  });
  body();
  return text;
}

bool imports(const Graph &graph, const EntryOptions &options) {
  mlir::OwningOpRef<mlir::ModuleOp> module = emptyModule("x86-64");
  return bool(importGraph(*module, graph, ParameterLayout(graph), options));
}

TEST(Import, MakesTheFiveEntries) {
  mlir::OwningOpRef<mlir::ModuleOp> module = imported({}, {3, 5}, "x86-64");
  EXPECT_EQ(names(argumentsOf(entry(*module, "step")), "input"), (Names{"tokens", "positions", "targets"}));
  EXPECT_EQ(names(resultsOf(entry(*module, "step")), "output"), Names{"loss"});
  EXPECT_EQ(names(resultsOf(entry(*module, "loss")), "output"), Names{"loss"});
  EXPECT_EQ(names(resultsOf(entry(*module, "update")), "output"), Names{"grad_norm"});
  EXPECT_EQ(entry(*module, "prepare").getNumArguments(), 0u);
}

TEST(Import, LeavesTargetsOutOfLogitsAndTakesOneRow) {
  mlir::OwningOpRef<mlir::ModuleOp> module = imported({}, {3, 5}, "x86-64");
  mlir::func::FuncOp logits = entry(*module, "logits");
  EXPECT_EQ(names(argumentsOf(logits), "input"), (Names{"tokens", "positions"}));
  EXPECT_EQ(resultsOf(logits)[0].shape, (std::vector<int64_t>{1, 5, 11}));
}

// Under the output's name; what other outputs alone read is no argument of it.
TEST(Import, MakesAnEntryOfEachOtherOutput) {
  const auto declare = [](Batch batch) {
    Graph graph;
    const Tensor x = graph.input("x", {batch.rows, 1}, Dtype::f32), y = graph.input("y", {batch.rows, 1}, Dtype::f32);
    const Tensor weights = graph.input("weights", {batch.rows, 1}, Dtype::f32);
    const Tensor prediction = nn::linear(x, 1, "out", {.bias = true});
    graph.output("prediction", prediction);
    graph.output("loss", nn::squared_error(prediction, y, weights));
    return graph;
  };
  mlir::OwningOpRef<mlir::ModuleOp> module =
      importModel(context(), {.name = "line",
                              .declare = declare,
                              .batch = {7, 1},
                              .target = (*emptyModule("x86-64"))->getAttrOfType<TargetAttr>("burin.target"),
                              .revision = "test"});
  ASSERT_TRUE(module);
  mlir::func::FuncOp prediction = entry(*module, "prediction");
  EXPECT_EQ(names(argumentsOf(prediction), "input"), Names{"x"});
  EXPECT_EQ(resultsOf(prediction)[0].shape, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(names(argumentsOf(entry(*module, "loss")), "input"), (Names{"x", "y", "weights"}));
}

TEST(Import, PutsDecayedParametersFirstAndAlignsAll) {
  const Graph graph = SmallModel{}.declare({3, 5});
  const ParameterLayout layout(graph);
  ASSERT_EQ(layout.sections.size(), 2u);
  EXPECT_TRUE(layout.sections[0].decay);
  EXPECT_EQ(layout.sections[1].offset, layout.sections[0].rows * 4096);
  EXPECT_EQ(layout.bytes, layout.sections[1].offset + layout.sections[1].rows * 4096);
  for (const Node &node : graph.nodes) {
    if (node.role != Node::Role::parameter)
      continue;
    const int64_t offset = layout.offsets.at(std::string(node.name.view()));
    EXPECT_EQ(offset % 64, 0) << node.name.view();
    EXPECT_EQ(offset < layout.sections[1].offset, node.decay) << node.name.view();
  }
}

TEST(Import, GivesUpdateTheMomentsOneAfterTheOther) {
  mlir::OwningOpRef<mlir::ModuleOp> module = imported({}, {3, 5}, "x86-64");
  const int64_t bytes = (*module)->getAttrOfType<mlir::IntegerAttr>("burin.parameter_bytes").getInt();
  for (const Slot &slot : argumentsOf(entry(*module, "update"))) {
    if (slot.name == "moment1.0") {
      EXPECT_EQ(slot.offset, 0);
    }
    if (slot.name == "moment2.0") {
      EXPECT_EQ(slot.offset, bytes);
    }
    if (slot.name == "gradients.0") {
      EXPECT_EQ(slot.role, "gradient");
    }
  }
}

TEST(Import, BoundsIdsByTheTableAndTargetsByTheClasses) {
  mlir::OwningOpRef<mlir::ModuleOp> module = imported({}, {3, 5}, "x86-64");
  mlir::func::FuncOp step = entry(*module, "step");
  EXPECT_EQ(step.getArgAttrOfType<mlir::DenseI64ArrayAttr>(0, "burin.bounds").asArrayRef().vec(),
            (std::vector<int64_t>{0, 11}));
  EXPECT_EQ(step.getArgAttr(1, "burin.bounds"), nullptr);
  EXPECT_EQ(step.getArgAttrOfType<mlir::DenseI64ArrayAttr>(2, "burin.bounds").asArrayRef().vec(),
            (std::vector<int64_t>{-1, 11}));
  EXPECT_EQ((*module)->getAttrOfType<mlir::IntegerAttr>("burin.vocab").getInt(), 11);
}

TEST(Import, LeadsFromAnOpToTheModelsLine) {
  mlir::OwningOpRef<mlir::ModuleOp> module = imported({}, {3, 5}, "x86-64");
  std::map<std::string, std::string> places;
  entry(*module, "loss").walk([&](mlir::Operation *op) {
    places.try_emplace(scope(op->getLoc()) + ": " + op->getName().stripDialect().str(), place(op->getLoc()));
  });
  ASSERT_TRUE(places.contains("layers.1.attn: softmax"));
  // Both come from the one line of the model that applies a block.
  EXPECT_EQ(places.at("layers.1.attn: softmax"), places.at("layers.0.ffn.w1: matmul"));
  EXPECT_NE(places.at("layers.1.attn: softmax").find("small_model.cpp:"), std::string::npos);
}

TEST(Import, RefusesIdsThatAreComputed) {
  Graph graph;
  const Tensor ids = graph.input("ids", {3}, Dtype::i32);
  graph.output("y", embedding(graph.parameter("table", {5, 2}, constant(0), true), mul(ids, ids)));
  const std::string message = diagnosticsOf([&] { EXPECT_FALSE(imports(graph, {.name = "f"})); });
  EXPECT_NE(message.find("the integers that embedding reads must be an input of the model"), std::string::npos)
      << message;
}

TEST(Import, SeesIdsThroughViews) {
  Graph graph;
  const Tensor ids = graph.input("ids", {6}, Dtype::i32);
  graph.output("y", embedding(graph.parameter("table", {5, 2}, constant(0), true), reshape(ids, {2, 3})));
  EXPECT_TRUE(imports(graph, {.name = "f"}));
}

TEST(Import, RefusesAModelWithoutALoss) {
  const ModelDeclaration model{.name = "lossless", .declare = [](Batch) { return Graph{}; }, .batch = {}, .target = {}};
  const std::string message = diagnosticsOf([&] { EXPECT_FALSE(bool(importModel(context(), model))); });
  EXPECT_NE(message.find("the model 'lossless' has no output 'loss' to train on"), std::string::npos) << message;
}

TEST(Import, NamesTheOutputThatIsMissing) {
  Graph graph;
  graph.output("y", graph.input("x", {}, Dtype::f32));
  const std::string message = diagnosticsOf([&] { EXPECT_FALSE(imports(graph, {.name = "f", .outputs = {"z"}})); });
  EXPECT_NE(message.find("the graph has no output 'z'"), std::string::npos) << message;
}

} // namespace
} // namespace burin::test
