// The toy model on a GPU that the CPU emulates: what it learns is what the CPU's learns, values move between host and
// GPU when they are asked to and not before, and files go to and fro between the two.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "burin_runtime.h"
#include "data/text_file.h"
#include "device/choice.h"
#include "device/cuda_device.h"
#include "store/checkpoint.h"
#include "support/expect_error.h"
#include "support/program.h"
#include "support/toy_model.h"
#include "text/sampler.h"
#include "train/initialize.h"
#include "train/language_task.h"

namespace burin::runtime {
namespace {

struct CudaTest : testing::Test {
  test::Folder folder;
  TextFile text{folder.write("text", test::sampleText(2000)), 128};
  CudaTest() { setenv("BURIN_CUDA_DRIVER", SIMT_DRIVER, 1); }
};

// A text for one capability alone runs there and nowhere else, and is taken before one for all.
TEST(CudaTexts, EachGpuRunsTheNewestThatItCan) {
  const burin_module texts[] = {{80, 0, "", 0}, {90, 1, "", 0}, {90, 0, "", 0}};
  burin_model model = toy_cuda_model;
  model.modules = texts;
  auto runs = [&](int64_t capability) {
    const burin_module *text = cuda::textFor(capability, model);
    return text ? cuda::architectureOf(*text) : "none";
  };
  model.num_modules = 2;
  EXPECT_EQ(runs(75), "none");
  EXPECT_EQ(runs(80), "sm_80");
  EXPECT_EQ(runs(89), "sm_80");
  EXPECT_EQ(runs(90), "sm_90a");
  EXPECT_EQ(runs(100), "sm_80");
  model.num_modules = 3;
  EXPECT_EQ(runs(90), "sm_90a");
  EXPECT_EQ(runs(100), "sm_90");
}

std::vector<float> all(const Device &device, burin_buffer which) {
  std::span<const float> values(reinterpret_cast<const float *>(device.buffer(which)),
                                static_cast<size_t>(device.model().bytes[which]) / sizeof(float));
  device.download(values);
  return {values.begin(), values.end()};
}

void expectNear(const std::vector<float> &a, const std::vector<float> &b, float tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance) << "element " << i;
}

struct Trained {
  std::vector<double> losses, norms;
  std::vector<float> parameters, moments;
};

Trained train(const burin_model &model, const TextFile &text, int64_t accumulate = 1) {
  Device device(model, 1);
  initialize(device, 7);
  Trainer trainer(device);
  TextBatches batches(device, text, {0, 2000}, 3);
  Trained result;
  for (int64_t step = 1; step <= 6; ++step) {
    StepResult each = trainer.step(batches, accumulate, {.clip = 0.5}, 0.01, step);
    EXPECT_EQ(each.skipped, "");
    result.losses.push_back(each.loss);
    result.norms.push_back(each.gradNorm);
  }
  result.parameters = all(device, BURIN_PARAMETERS);
  result.moments = all(device, BURIN_STATE);
  return result;
}

TEST_F(CudaTest, LearnsWhatTheCpuLearns) {
  for (int64_t accumulate : {1, 3}) {
    const Trained cpu = train(toy_model, text, accumulate), gpu = train(toy_cuda_model, text, accumulate);
    for (size_t step = 0; step < cpu.losses.size(); ++step) {
      EXPECT_NEAR(gpu.losses[step], cpu.losses[step], 1e-5) << "step " << step;
      EXPECT_NEAR(gpu.norms[step], cpu.norms[step], 1e-5) << "step " << step;
    }
    expectNear(gpu.parameters, cpu.parameters, 1e-4f);
    expectNear(gpu.moments, cpu.moments, 1e-6f);
  }
}

TEST_F(CudaTest, RunsTheSameTwice) {
  const Trained one = train(toy_cuda_model, text), two = train(toy_cuda_model, text);
  EXPECT_EQ(one.losses, two.losses);
  EXPECT_TRUE(one.parameters == two.parameters);
}

// A step that was begun before the results of the one before were read gives the same as one after the other.
TEST_F(CudaTest, StepsMayOverlap) {
  const Trained expected = train(toy_cuda_model, text);
  Device device(toy_cuda_model, 1);
  initialize(device, 7);
  Trainer trainer(device);
  TextBatches batches(device, text, {0, 2000}, 3);
  std::vector<double> losses;
  Underway before;
  for (int64_t step = 1; step <= 6; ++step) {
    Underway next = trainer.gradients(batches, 1);
    if (step > 1)
      losses.push_back(trainer.result(before, /*last=*/false).loss);
    trainer.update(next, {.clip = 0.5}, 0.01, step);
    before = std::move(next);
  }
  losses.push_back(trainer.result(before, /*last=*/true).loss);
  EXPECT_EQ(losses, expected.losses);
  EXPECT_TRUE(all(device, BURIN_PARAMETERS) == expected.parameters);
}

// A run has taken its inputs, and numbers that were asked for are those of then, whatever runs next.
TEST_F(CudaTest, InputsAndResultsAreThoseOfTheRun) {
  Device device(toy_cuda_model, 1);
  initialize(device, 1);
  LossEntry loss(device);
  std::vector<Reading> readings;
  std::vector<float> expected;
  auto fill = [&](int32_t batch) {
    std::fill(loss.tokens.begin(), loss.tokens.end(), batch);
    std::fill(loss.targets.begin(), loss.targets.end(), 3 * batch + 1);
    std::iota(loss.positions.begin(), loss.positions.end(), 0);
  };
  for (int32_t batch = 0; batch < 40; ++batch) {
    fill(batch);
    device.run(loss.entry);
    readings.push_back(device.ask(loss.loss));
  }
  for (int32_t batch = 0; batch < 40; ++batch) {
    fill(batch);
    device.run(loss.entry);
    device.download(loss.loss);
    EXPECT_EQ(device.answer(readings[static_cast<size_t>(batch)]), loss.loss) << "batch " << batch;
    expected.push_back(loss.loss);
  }
  EXPECT_NE(expected[0], expected[1]);
}

TEST_F(CudaTest, IdOutsideItsBoundsRunsNothing) {
  Device device(toy_cuda_model, 1);
  initialize(device, 1);
  StepEntry step(device);
  step.targets[35] = 128;
  EXPECT_ERROR(device.run(step.entry), "targets[2, 3] is 128, but must be at least -1 and less than 128");
  for (float value : all(device, BURIN_GRADIENTS))
    ASSERT_EQ(value, 0);
}

TEST_F(CudaTest, TimesEachLaunch) {
  Device device(toy_cuda_model, 1);
  initialize(device, 1);
  StepEntry step(device);
  std::vector<double> seconds(static_cast<size_t>(step.entry.num_launches), -1);
  device.run(step.entry, seconds);
  for (double value : seconds)
    EXPECT_GE(value, 0);
}

// The bias gradient is infinite when the last id is a target: the update refuses it, and says so.
TEST_F(CudaTest, NonFiniteGradientSkipsTheStepAndIsNamed) {
  TextFile last(folder.write("last", std::string(100, '\x7f')), 128);
  Device device(toy_cuda_model, 1);
  initialize(device, 1);
  const std::vector<float> before = all(device, BURIN_PARAMETERS);
  Trainer trainer(device);
  TextBatches windows(device, last, {0, 100}, 1);
  StepResult result = trainer.step(windows, 1, {}, 0.1, 1);
  EXPECT_TRUE(std::isfinite(result.loss));
  EXPECT_EQ(result.skipped, "the gradient of 'bias' is inf at element 127");
  // When the next step has overwritten the gradients, the norm is all that is left.
  Underway first = trainer.gradients(windows, 1);
  trainer.update(first, {}, 0.1, 1);
  Underway second = trainer.gradients(windows, 1);
  EXPECT_EQ(trainer.result(first, /*last=*/false).skipped, "the gradients' norm is inf");
  trainer.update(second, {}, 0.1, 1);
  EXPECT_TRUE(all(device, BURIN_PARAMETERS) == before);
}

TEST_F(CudaTest, CheckpointsGoBothWays) {
  const std::string path = folder.file("checkpoint");
  Device cpu(toy_model, 1), gpu(toy_cuda_model, 1);
  initialize(gpu, 5);
  Trainer trainer(gpu);
  TextBatches batches(gpu, text, {0, 2000}, 3);
  trainer.step(batches, 1, {}, 0.01, 1);
  saveCheckpoint(path, gpu, nlohmann::json::object());
  expectModel(path, loadCheckpoint(path, cpu, /*withMoments=*/true), toy_model);
  EXPECT_TRUE(all(cpu, BURIN_PARAMETERS) == all(gpu, BURIN_PARAMETERS));
  EXPECT_TRUE(all(cpu, BURIN_STATE) == all(gpu, BURIN_STATE));

  initialize(cpu, 6);
  saveCheckpoint(path, cpu, nlohmann::json::object());
  loadCheckpoint(path, gpu, /*withMoments=*/true);
  EXPECT_TRUE(all(cpu, BURIN_PARAMETERS) == all(gpu, BURIN_PARAMETERS));
  EXPECT_TRUE(all(cpu, BURIN_STATE) == all(gpu, BURIN_STATE));
  // Both were prepared: the kernels read the bias from what `prepare` made.
  EXPECT_NEAR(evaluate(cpu, text, {0, 300}).loss, evaluate(gpu, text, {0, 300}).loss, 1e-5);
}

TEST_F(CudaTest, GeneratesWhatTheCpuGenerates) {
  std::string texts[2];
  int i = 0;
  for (const burin_model *model : {&toy_model, &toy_cuda_model}) {
    Device device(*model, 1);
    initialize(device, 5);
    ByteTokenizer tokenizer;
    generate(device, tokenizer, "a", 40, {.seed = 2}, [&](const std::string &piece) { texts[i] += piece; });
    ++i;
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_FALSE(texts[0].empty());
}

TEST_F(CudaTest, TheCInterfaceMovesValues) {
  burin_device *device = nullptr;
  ASSERT_EQ(burin_create(&toy_cuda_model, 1, &device), BURIN_OK) << burin_last_message();
  ASSERT_EQ(burin_initialize(device, 1), BURIN_OK);
  float bias[128], back[128] = {};
  std::iota(bias, bias + 128, 0.f);
  EXPECT_EQ(burin_set_parameter(device, "bias", bias, 128), BURIN_OK);
  EXPECT_EQ(burin_run(device, "prepare"), BURIN_OK);
  EXPECT_EQ(burin_get_parameter(device, "bias", back, 128), BURIN_OK);
  EXPECT_EQ(std::memcmp(bias, back, sizeof bias), 0);
  int32_t tokens[TOY_LENGTH] = {}, positions[TOY_LENGTH];
  std::iota(positions, positions + TOY_LENGTH, 0);
  EXPECT_EQ(burin_set_input(device, "logits", "tokens", tokens, sizeof tokens), BURIN_OK);
  EXPECT_EQ(burin_set_input(device, "logits", "positions", positions, sizeof positions), BURIN_OK);
  EXPECT_EQ(burin_run(device, "logits"), BURIN_OK) << burin_last_message();
  std::vector<float> logits(TOY_LENGTH * 128);
  EXPECT_EQ(burin_get_output(device, "logits", "logits", logits.data(), logits.size() * 4), BURIN_OK);
  EXPECT_GT(logits[127], 100);
  EXPECT_NE(burin_buffer_data(device, BURIN_PARAMETERS), nullptr);
  burin_destroy(device);
}

} // namespace
} // namespace burin::runtime
