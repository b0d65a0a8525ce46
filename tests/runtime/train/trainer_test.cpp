// A step and an evaluation of the toy model, held against plain arithmetic.
#include "train/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "data/text_file.h"
#include "support/program.h"
#include "support/toy_model.h"
#include "train/initialize.h"
#include "train/language_task.h"

namespace burin::runtime {
namespace {

struct TrainerTest : testing::Test {
  test::Folder folder;
  Device device{toy_model, 1};
  TrainerTest() { initialize(device, 1); }

  std::vector<float> copy(std::span<const float> values) const { return {values.begin(), values.end()}; }
};

// The compiled update of the toy model and the plain reference agree, clipping and decay groups included.
TEST_F(TrainerTest, UpdateMatchesTheReference) {
  TextFile text(folder.write("text", test::sampleText(1000)), 128);
  Trainer trainer(device);
  TextBatches windows(device, text, {0, 1000}, 1);
  AdamW settings{.clip = 0.05};
  const burin_parameter &table = device.parameter("table.weight"), &bias = device.parameter("bias");
  std::vector<float> expected[2] = {copy(device.weights(table)), copy(device.weights(bias))};
  std::vector<float> moments[2][2];
  for (int i = 0; i < 2; ++i)
    moments[i][0] = moments[i][1] = std::vector<float>(expected[i].size());
  for (int64_t update = 1; update <= 5; ++update) {
    StepResult result = trainer.step(windows, 1, settings, 0.01, update);
    EXPECT_TRUE(result.skipped.empty());
    const std::span<const float> gradients[] = {device.gradient(table), device.gradient(bias)};
    double norm = gradientNorm(gradients);
    EXPECT_NEAR(result.gradNorm, norm, 1e-5 * norm);
    EXPECT_GT(norm, settings.clip);
    for (int i = 0; i < 2; ++i)
      referenceAdamW(expected[i], gradients[i], moments[i][0], moments[i][1], i == 0, clipFactor(norm, settings.clip),
                     0.01, settings, update);
  }
  for (size_t i = 0; i < expected[0].size(); ++i)
    ASSERT_NEAR(device.weights(table)[i], expected[0][i], 1e-4) << "element " << i;
  for (size_t i = 0; i < expected[1].size(); ++i)
    ASSERT_NEAR(device.weights(bias)[i], expected[1][i], 1e-4) << "element " << i;
}

// Two batches accumulated give the mean of their gradients and of their losses.
TEST_F(TrainerTest, AccumulationIsTheMeanOverAllTokens) {
  TextFile text(folder.write("text", test::sampleText(1000)), 128);
  Trainer trainer(device);
  const burin_parameter &table = device.parameter("table.weight");
  TextBatches alone(device, text, {0, 1000}, 1), together(device, text, {0, 1000}, 1);
  double loss = 0;
  std::vector<float> sum(device.weights(table).size());
  for (int part = 0; part < 2; ++part) { // a rate of zero: the weights stay as they are
    loss += trainer.step(alone, 1, {.weightDecay = 0}, 0, 1).loss / 2;
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] += device.gradient(table)[i] / 2;
  }
  EXPECT_NEAR(trainer.step(together, 2, {.weightDecay = 0}, 0, 1).loss, loss, 1e-6);
  EXPECT_EQ(alone.drawn(), together.drawn());
  for (size_t i = 0; i < sum.size(); ++i)
    ASSERT_NEAR(device.gradient(table)[i], sum[i], 1e-7) << "element " << i;
}

// Every token but the first is predicted once, whatever the length leaves over for the last batch.
TEST_F(TrainerTest, EvaluationCountsEachTokenOnce) {
  std::string content = test::sampleText(201);
  TextFile text(folder.write("text", content), 128);
  std::span<const float> table = device.weights(device.parameter("table.weight"));
  std::span<const float> bias = device.weights(device.parameter("bias"));
  for (uint64_t size : {2u, 16u, 17u, 64u, 65u, 66u, 201u}) {
    double expected = 0;
    for (uint64_t i = 0; i + 1 < size; ++i) { // -log softmax of the next token, in double
      double sum = 0;
      auto logit = [&](size_t v) {
        return static_cast<double>(table[static_cast<size_t>(content[i]) * 128 + v]) + bias[v];
      };
      for (size_t v = 0; v < 128; ++v)
        sum += std::exp(logit(v));
      expected += std::log(sum) - logit(static_cast<size_t>(content[i + 1]));
    }
    Evaluation result = evaluate(device, text, {0, size});
    EXPECT_EQ(result.tokens, static_cast<int64_t>(size) - 1);
    EXPECT_NEAR(result.loss, expected / static_cast<double>(size - 1), 1e-5) << size << " tokens";
  }
}

// The toy model turns the gradient of the bias infinite when the last id is a target.
TEST_F(TrainerTest, NonFiniteGradientSkipsTheStepAndIsNamed) {
  TextFile text(folder.write("text", std::string(100, '\x7f')), 128);
  Trainer trainer(device);
  TextBatches windows(device, text, {0, 100}, 1);
  std::string before(reinterpret_cast<char *>(device.buffer(BURIN_PARAMETERS)), 66048);
  StepResult result = trainer.step(windows, 1, {}, 0.1, 1);
  EXPECT_TRUE(std::isfinite(result.loss));
  EXPECT_EQ(result.skipped, "the gradient of 'bias' is inf at element 127");
  EXPECT_EQ(std::memcmp(before.data(), device.buffer(BURIN_PARAMETERS), before.size()), 0);
  for (int64_t which : {0, 1})
    for (float moment : device.moment(device.parameter("table.weight"), which))
      ASSERT_EQ(moment, 0);
}

TEST_F(TrainerTest, NonFiniteLossSkipsTheStep) {
  TextFile text(folder.write("text", test::sampleText(100)), 128);
  Trainer trainer(device);
  TextBatches windows(device, text, {0, 100}, 1);
  device.weights(device.parameter("bias"))[2] = NAN;
  device.prepare();
  StepResult result = trainer.step(windows, 1, {}, 0.1, 1);
  EXPECT_NE(result.skipped.find("the loss is nan, the gradient of 'table.weight' is nan"), std::string::npos)
      << result.skipped;
}

} // namespace
} // namespace burin::runtime
