// On a machine whose caches are as small as a target allows, everything is cut into pieces that other tests meet only
// at sizes too large for the evaluator: slices of the depth, right sides that the cells pack themselves.
#include "tests/stages/products.h"
#include "tests/stages/small_model.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"
#include "tests/support/program.h"
#include "gtest/gtest.h"

namespace burin::test {
namespace {

constexpr int64_t least = 4096; // bytes of a cache

mlir::OwningOpRef<mlir::ModuleOp> withSmallCaches(mlir::OwningOpRef<mlir::ModuleOp> module, const char *dtype = "f32") {
  auto target = (*module)->getAttrOfType<TargetAttr>("burin.target");
  (*module)->setAttr("burin.target",
                     TargetAttr::get(&context(), target.getCpu(), target.getFeatures(), target.getLanes(),
                                     target.getRegisters(), least, least, target.getCells()));
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

// Right sides of more than 16 caches. Rows beyond a cell's (512) and a block's (64), columns beyond a cell's four
// panels, depths of one slice and of many, batches.
const std::vector<ProductCase> cases = {
    {{7, 65}, {65, 301}, {}},
    {{129, 31}, {601, 31}, {.transpose_b = true}},
    {{65, 7}, {65, 301}, {.transpose_a = true}},
    {{601, 2049}, {2049, 9}, {}},
    {{2049, 33}, {13, 2049}, {.transpose_a = true, .transpose_b = true}},
    {{3, 5, 40, 17}, {17, 1025}, {}},
    {{1, 131}, {131, 129}, {}},
    {{3, 5, 65}, {3, 65, 301}, {}},
    {{2, 129, 33}, {2, 601, 33}, {.transpose_b = true}},
    // Sums of parts of the depth: five of them, eight, none.
    {{7, 8195}, {8195, 5}, {}},
    {{33, 8200}, {13, 8200}, {.transpose_b = true}},
    {{8192, 3}, {8192, 7}, {.transpose_a = true}},
    {{3, 8209}, {5, 8209}, {.transpose_b = true}},
};

TEST(SmallCaches, ProductsAreThoseOfTheEvaluator) {
  for (const ProductCase &each : cases)
    ASSERT_GT(each.b.size() * 4, 16 * least) << "is packed by a launch of its own";
  for (const std::string &cpu : machineTargets())
    expectProducts(
        withSmallCaches(emptyModule(cpu)), cases, [](const Values &x) { return x; }, "compiled for " + cpu);
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
      expectTheEvaluatorsResults(Program(std::move(module), options), model);
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
