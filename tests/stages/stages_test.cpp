// What stages owe each other: every one of them computes the same, gradients are those of the declared loss, and
// compiled programs agree with the evaluator whatever is fused.
#include <cmath>
#include <limits>
#include <map>

#include "tests/stages/small_model.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"
#include "tests/support/program.h"
#include "gtest/gtest.h"

namespace burin::test {

namespace {

const std::vector<std::string> fusions = {"burin-fuse-attention", "burin-fuse-swiglu", "burin-fuse-linear-loss"};

// The module as it stands at the end of each stage up to `last`.
std::map<std::string, mlir::OwningOpRef<mlir::ModuleOp>> stagesOf(mlir::ModuleOp module, const std::string &last,
                                                                  std::vector<std::string> without = {}) {
  std::map<std::string, mlir::OwningOpRef<mlir::ModuleOp>> reached;
  StageOptions options;
  options.stopAfter = last;
  options.without = std::move(without);
  options.onStage = [&](const Stage &stage, mlir::ModuleOp at) { reached[stage.name] = at.clone(); };
  lower(module, options);
  return reached;
}

int64_t kernels(mlir::ModuleOp tiled) {
  int64_t count = 0;
  for (auto function : tiled.getOps<mlir::func::FuncOp>())
    count += function->hasAttr("burin.kernel");
  return count;
}

class SmallModels : public testing::TestWithParam<SmallModel> {};

INSTANTIATE_TEST_SUITE_P(Stages, SmallModels, testing::ValuesIn(smallModels()),
                         [](const auto &info) { return info.param.name; });

TEST_P(SmallModels, ComputeTheSameLossAtEveryStage) {
  mlir::OwningOpRef<mlir::ModuleOp> module = imported(GetParam(), {2, 5}, "x86-64-v3");
  const std::vector<Values> arguments = drawArguments(entry(*module, "loss"), GetParam(), 1);
  const Results expected = evaluate(entry(*module, "loss"), arguments);
  for (const auto &[stage, reached] : stagesOf(*module, "grouped"))
    expectClose(evaluate(entry(*reached, "loss"), arguments)[0], expected[0], 1e-12, "the loss at stage " + stage);
}

TEST_P(SmallModels, ComputeTheSameGradientsBeforeAndAfterGrouping) {
  mlir::OwningOpRef<mlir::ModuleOp> module = imported(GetParam(), {2, 5}, "x86-64-v3");
  auto reached = stagesOf(*module, "grouped");
  mlir::func::FuncOp joint = entry(*reached.at("joint"), "step");
  const std::vector<Values> arguments = drawArguments(joint, GetParam(), 2);
  const Results expected = evaluate(joint, arguments),
                actual = evaluate(entry(*reached.at("grouped"), "step"), arguments);
  const std::vector<Slot> slots = resultsOf(joint);
  for (size_t i = 0; i < expected.size(); ++i)
    expectClose(actual[i], expected[i], 1e-11, "gradient of " + slots[i].name);
}

TEST_P(SmallModels, HaveTheGradientsOfTheirLoss) {
  mlir::OwningOpRef<mlir::ModuleOp> module = imported(GetParam(), {2, 5}, "x86-64-v3");
  auto reached = stagesOf(*module, "joint");
  mlir::func::FuncOp forward = entry(*reached.at("imported"), "loss");
  expectGradients(forward, entry(*reached.at("joint"), "step"), drawArguments(forward, GetParam(), 3),
                  /*directions=*/20, /*tolerance=*/1e-6, /*seed=*/4);
}

TEST_P(SmallModels, HaveTheGradientsOfTheirLossWithoutFusions) {
  mlir::OwningOpRef<mlir::ModuleOp> module = imported(GetParam(), {1, 4}, "x86-64-v3");
  auto reached = stagesOf(*module, "joint", fusions);
  mlir::func::FuncOp forward = entry(*reached.at("imported"), "loss");
  expectGradients(forward, entry(*reached.at("joint"), "step"), drawArguments(forward, GetParam(), 5),
                  /*directions=*/20, /*tolerance=*/1e-6, /*seed=*/6);
}

// Every entry of the compiled model against the evaluator, on each instruction set of this machine, fused and not.
TEST_P(SmallModels, AgreeWithTheEvaluatorWhenCompiled) {
  for (const std::string &cpu : allTargets())
    for (bool fused : {true, false}) {
      SCOPED_TRACE(cpu + (fused ? ", fused" : ", not fused"));
      StageOptions options;
      if (!fused)
        options.without = fusions;
      expectTheEvaluatorsResults(Program(imported(GetParam(), {3, 17}, cpu), options), GetParam());
    }
}

TEST(Update, AgreesWithTheEvaluatorWhenCompiled) {
  const SmallModel model;
  for (const std::string &cpu : allTargets()) {
    const Program program(imported(model, {2, 5}, cpu));
    mlir::func::FuncOp update = program.joint("update");
    // One norm below the clip, one above.
    for (double clip : {1e6, 0.5}) {
      Random random(8);
      std::vector<Values> arguments;
      const std::map<std::string, double> scalars{{"lr", 0.01},           {"beta1", 0.9},           {"beta2", 0.95},
                                                  {"eps", 1e-8},          {"weight_decay", 0.1},    {"clip", clip},
                                                  {"correction1", 0.271}, {"correction2", 0.142625}};
      for (const Slot &slot : argumentsOf(update)) {
        if (auto scalar = scalars.find(slot.name); scalar != scalars.end())
          arguments.push_back(Values::scalar(static_cast<float>(scalar->second)));
        else
          arguments.push_back(randomReals(random, slot.shape, slot.name.starts_with("moment2") ? 0 : -1, 1));
      }
      const Results expected = evaluate(update, arguments), actual = program.run("update", arguments);
      const std::vector<Slot> slots = resultsOf(update);
      for (size_t i = 0; i < expected.size(); ++i)
        expectClose(actual[i], expected[i], 2e-6, cpu + ": " + slots[i].name);
    }
  }
}

TEST(Update, ChangesNothingWhenAGradientIsNotFinite) {
  const Program program(imported({}, {2, 5}, "x86-64-v3"));
  Random random(9);
  std::vector<Values> arguments;
  std::map<std::string, Values> before;
  for (const Slot &slot : argumentsOf(program.joint("update"))) {
    arguments.push_back(randomReals(random, slot.shape, 0.1, 0.9));
    if (slot.name == "gradients.0")
      arguments.back()[17] = std::numeric_limits<double>::quiet_NaN();
    before[slot.name] = arguments.back();
  }
  const Results after = program.run("update", arguments);
  const std::vector<Slot> slots = resultsOf(program.joint("update"));
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].name == "grad_norm")
      EXPECT_TRUE(std::isnan(after[i][0]));
    else
      EXPECT_EQ(after[i].data, before.at(slots[i].name).data) << slots[i].name;
  }
}

// What a step adds to the gradients: loss_scale times their value where `accumulate` is set, else that alone, whatever
// lay there.
TEST(Step, AccumulatesOrOverwritesGradients) {
  const SmallModel model;
  const Program program(imported(model, {2, 5}, "x86-64-v3"));
  mlir::func::FuncOp joint = program.joint("step");
  const std::vector<Slot> slots = argumentsOf(joint), results = resultsOf(joint);
  std::vector<Values> arguments = drawArguments(joint, model, 10);
  const auto run = [&](double scale, double accumulate, double former) {
    for (size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].name == "loss_scale")
        arguments[i][0] = scale;
      if (slots[i].name == "accumulate")
        arguments[i][0] = accumulate;
      if (slots[i].role == "gradient")
        arguments[i] = Values(slots[i].shape, former);
    }
    return program.run("step", arguments);
  };
  const Results alone = run(1, 0, std::numeric_limits<double>::quiet_NaN()), added = run(0.5, 1, 3);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].role != "gradient")
      continue;
    Values expected = alone[i];
    for (double &g : expected.data)
      g = 3 + g / 2;
    expectClose(added[i], expected, 1e-6, "gradient of " + results[i].name);
  }
}

TEST(Logits, DoNotSeeLaterTokens) {
  const SmallModel model;
  for (const std::string &cpu : machineTargets()) {
    const Program program(imported(model, {1, 33}, cpu));
    std::vector<Values> arguments = drawArguments(program.joint("logits"), model, 11);
    const std::vector<Slot> slots = argumentsOf(program.joint("logits"));
    const Values before = program.run("logits", arguments)[0];
    for (size_t i = 0; i < slots.size(); ++i)
      if (slots[i].name == "tokens")
        for (int64_t t = 20; t < 33; ++t)
          arguments[i][t] = std::fmod(arguments[i][t] + 1, static_cast<double>(model.vocab));
    const Values after = program.run("logits", arguments)[0];
    for (int64_t i = 0; i < 33 * model.vocab; ++i) {
      if (i < 20 * model.vocab) {
        ASSERT_EQ(before[i], after[i]) << cpu << ": logit " << i % model.vocab << " of position " << i / model.vocab;
      }
    }
    EXPECT_NE(before[20 * model.vocab], after[20 * model.vocab]) << cpu << ": the changed token has no influence";
  }
}

// Kernels are shared by all layers, however many there are.
TEST(Kernels, AreThoseOfTwoLayersWhateverTheDepth) {
  SmallModel model;
  mlir::OwningOpRef<mlir::ModuleOp> two = imported(model, {2, 8}, "x86-64-v3");
  model.layers = 48;
  mlir::OwningOpRef<mlir::ModuleOp> many = imported(model, {2, 8}, "x86-64-v3");
  for (mlir::ModuleOp module : {*two, *many}) {
    StageOptions options;
    options.stopAfter = "tiled";
    lower(module, options);
  }
  EXPECT_EQ(kernels(*two), kernels(*many));
}

} // namespace
} // namespace burin::test
