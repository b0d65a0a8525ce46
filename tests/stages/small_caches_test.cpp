// On a machine whose caches are as small as a target allows, everything is cut into pieces that other tests meet only at
// sizes too large for the evaluator: slices of the depth, right sides that the cells pack themselves.
#include "passes/import/import.h"
#include "tests/ops/elementwise.h"
#include "tests/stages/small_model.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"
#include "tests/support/op_test.h"
#include "tests/support/program.h"
#include "gtest/gtest.h"

namespace burin::test {
namespace {

mlir::OwningOpRef<mlir::ModuleOp> withSmallCaches(mlir::OwningOpRef<mlir::ModuleOp> module, const char *dtype = "f32") {
  auto target = (*module)->getAttrOfType<TargetAttr>("burin.target");
  constexpr int64_t least = 4096;
  (*module)->setAttr("burin.target", TargetAttr::get(&context(), target.getCpu(), target.getFeatures(),
                                                     target.getLanes(), target.getRegisters(), least, least));
  (*module)->setAttr("burin.dtype", mlir::StringAttr::get(&context(), dtype));
  return module;
}

// Whether some launch multiplies by pieces that it packs.
bool packsInPieces(mlir::ModuleOp module) {
  StageOptions options;
  options.stopAfter = "grouped";
  mlir::OwningOpRef<mlir::ModuleOp> grouped = module.clone();
  lower(*grouped, options);
  bool found = false;
  grouped->walk([&](GroupOp group) {
    found |= group.getKind() == "contraction" && !group.getBody().getOps<PackPanelsOp>().empty();
  });
  return found;
}

struct Case {
  Shape a, b;
  Matmul how;
};

// Right sides of more than 16 caches. Rows beyond a cell's (512) and a block's (64), columns beyond a cell's four panels,
// depths of one slice and of many.
const std::vector<Case> cases = {
    {{7, 65}, {65, 301}, {}},
    {{129, 31}, {601, 31}, {.transpose_b = true}},
    {{65, 7}, {65, 301}, {.transpose_a = true}},
    {{601, 2049}, {2049, 9}, {}},
    {{2049, 33}, {13, 2049}, {.transpose_a = true, .transpose_b = true}},
    {{3, 5, 40, 17}, {17, 1025}, {}},
    {{1, 131}, {131, 129}, {}},
};

TEST(SmallCaches, ProductsAreThoseOfTheEvaluator) {
  for (const std::string &cpu : machineTargets()) {
    mlir::OwningOpRef<mlir::ModuleOp> module = withSmallCaches(emptyModule(cpu));
    for (size_t i = 0; i < cases.size(); ++i) {
      Graph graph;
      const Tensor a = graph.input("a", cases[i].a, Dtype::f32), b = graph.input("b", cases[i].b, Dtype::f32);
      graph.output("c", add(matmul(a, b, cases[i].how), graph.input("d", {1}, Dtype::f32)));
      ASSERT_TRUE(importGraph(*module, graph, ParameterLayout(graph),
                              {.name = "product_" + std::to_string(i), .outputs = {"c"}, .differentiate = false}));
    }
    EXPECT_TRUE(packsInPieces(*module));
    const Program program(std::move(module));
    Random random(7);
    for (size_t i = 0; i < cases.size(); ++i) {
      auto draw = [&](const Shape &shape) {
        return randomReals(random, std::vector<int64_t>(shape.begin(), shape.end()), -1, 1);
      };
      const Values a = draw(cases[i].a), b = draw(cases[i].b);
      const Values product = matrixProduct(a, b, cases[i].how.transpose_a, cases[i].how.transpose_b);
      const Values expected = elementwise(product, [](double x) { return x + 0.5; });
      for (Cut cut : {Cut::whole, Cut::single})
        expectClose(program.run("product_" + std::to_string(i), {a, b, Values({1}, 0.5)}, cut)[0], expected, 1e-5,
                    shapeName(cases[i].a) + " by " + shapeName(cases[i].b) + ", compiled for " + cpu);
    }
  }
}

// A table of 17 caches, once as the rows of an embedding, once as an output layer; losses whole and in chunks.
TEST(SmallCaches, ModelsAreThoseOfTheEvaluator) {
  const SmallModel model{.vocab = 1501, .tied = true};
  for (const std::string &cpu : machineTargets())
    for (bool chunks : {false, true}) {
      SCOPED_TRACE(cpu + (chunks ? ", loss in chunks" : ""));
      StageOptions options;
      if (chunks)
        options.with = {"burin-fuse-linear-loss{always=true}"};
      else
        options.without = {"burin-fuse-linear-loss"};
      mlir::OwningOpRef<mlir::ModuleOp> module = withSmallCaches(imported(model, {3, 17}, cpu));
      EXPECT_TRUE(packsInPieces(*module));
      const Program program(std::move(module), options);
      for (const std::string name : {"loss", "logits", "step"}) {
        mlir::func::FuncOp joint = program.joint(name);
        const std::vector<Values> arguments = drawArguments(joint, model, 7);
        const Results expected = evaluate(joint, arguments), actual = program.run(name, arguments),
                      cut = program.run(name, arguments, Cut::single);
        const std::vector<Slot> slots = resultsOf(joint);
        for (size_t i = 0; i < expected.size(); ++i) {
          expectClose(actual[i], expected[i], 2e-5, name + ": " + slots[i].role + " " + slots[i].name);
          EXPECT_EQ(actual[i].data, cut[i].data)
              << name << ": " << slots[i].name << " depends on how the cells are cut";
        }
      }
    }
}

TEST(SmallCaches, PiecesInBf16AreThoseOfACopyInBf16) {
  const SmallModel model{.vocab = 1501};
  for (const std::string &cpu : {machineTargets().front(), machineTargets().back()}) {
    mlir::OwningOpRef<mlir::ModuleOp> copy = imported(model, {2, 5}, cpu);
    (*copy)->setAttr("burin.dtype", mlir::StringAttr::get(&context(), "bf16"));
    const Program inPieces(withSmallCaches(imported(model, {2, 5}, cpu), "bf16")), copied(std::move(copy));
    const std::vector<Values> arguments = drawArguments(inPieces.joint("step"), model, 1);
    const Results actual = inPieces.run("step", arguments), expected = copied.run("step", arguments);
    const std::vector<Slot> slots = resultsOf(inPieces.joint("step"));
    for (size_t i = 0; i < actual.size(); ++i)
      expectClose(actual[i], expected[i], 2e-3, slots[i].role + " " + slots[i].name + ", compiled for " + cpu);
  }
}

} // namespace
} // namespace burin::test
