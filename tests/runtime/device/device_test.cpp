// Launches give the same bits on any number of threads; ids and tables that lead outside are refused first.
#include "device/choice.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "support/expect_error.h"
#include "support/toy_model.h"
#include "train/adamw.h"
#include "train/initialize.h"
#include "train/language_model.h"

namespace burin::runtime {
namespace {

void fillBatch(LossEntry &entry) {
  for (size_t i = 0; i < entry.tokens.size(); ++i) {
    entry.tokens[i] = static_cast<int32_t>((i * 37) % 128);
    entry.targets[i] = static_cast<int32_t>(2 + (i * 11) % 126);
  }
  std::iota(entry.positions.begin(), entry.positions.end(), 0);
}

// All bytes of parameters and optimizer state after some steps.
std::string train(int threads, int steps) {
  Device device(toy_model, threads);
  initialize(device, 7);
  StepEntry step(device);
  UpdateEntry update(device);
  for (int i = 1; i <= steps; ++i) {
    fillBatch(step);
    step.scale = 1.f / 64;
    step.accumulate = 0;
    device.run(step.entry);
    update.lr = 0.01f;
    update.beta1 = 0.9f;
    update.beta2 = 0.95f;
    update.eps = 1e-8f;
    update.weightDecay = 0.1f;
    update.clip = 0.1f;
    update.correction1 = static_cast<float>(correction(0.9, i));
    update.correction2 = static_cast<float>(correction(0.95, i));
    device.run(update.entry);
  }
  std::string bytes;
  for (burin_buffer buffer : {BURIN_PARAMETERS, BURIN_STATE})
    bytes.append(reinterpret_cast<char *>(device.buffer(buffer)), static_cast<size_t>(toy_model.bytes[buffer]));
  return bytes;
}

TEST(Device, ThreadCountDoesNotChangeABit) {
  std::string one = train(1, 3);
  EXPECT_TRUE(one == train(2, 3));
  EXPECT_TRUE(one == train(3, 3));
}

TEST(Device, RunsTheSameTwice) { EXPECT_TRUE(train(2, 2) == train(2, 2)); }

TEST(Device, BuffersAreAlignedAndZero) {
  for (size_t size : {size_t{1}, size_t{64}, size_t{100'000}, size_t{5} << 20}) {
    Memory memory(size, "a test");
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % 64, 0u);
    EXPECT_EQ(std::accumulate(memory.data(), memory.data() + size, 0,
                              [](int sum, std::byte value) { return sum + std::to_integer<int>(value); }),
              0);
  }
}

TEST(Device, TooMuchMemoryIsSaid) {
  EXPECT_ERROR(Memory(size_t{1} << 60, "activations"), "not enough memory: 1152921504606846976 bytes for activations");
}

// The first bad id is named with its place, and nothing has run.
TEST(Device, IdOutsideItsBoundsRunsNothing) {
  Device device(toy_model, 1);
  initialize(device, 1);
  StepEntry step(device);
  fillBatch(step);
  std::memset(device.buffer(BURIN_GRADIENTS), 1, 64);
  step.targets[35] = -2;
  EXPECT_ERROR(device.run(step.entry), "targets[2, 3] is -2, but must be at least -1 and less than 128");
  step.targets[35] = 128;
  EXPECT_ERROR(device.run(step.entry), "targets[2, 3] is 128, but must be at least -1 and less than 128");
  EXPECT_EQ(std::to_integer<int>(device.buffer(BURIN_GRADIENTS)[0]), 1);
}

TEST(Device, TimesEachLaunch) {
  Device device(toy_model, 2);
  initialize(device, 1);
  StepEntry step(device);
  fillBatch(step);
  std::vector<double> seconds(static_cast<size_t>(step.entry.num_launches), -1);
  device.run(step.entry, seconds);
  for (double value : seconds)
    EXPECT_GE(value, 0);
}

TEST(Device, MissingNamesAreSaid) {
  Device device(toy_model, 1);
  EXPECT_ERROR(device.entry("decode"), "model 'toy' has no entry 'decode'");
  EXPECT_ERROR(device.input(device.entry("loss"), "seed"), "entry 'loss' of model 'toy' has no input 'seed'");
  EXPECT_ERROR(device.output(device.entry("loss"), "count"), "entry 'loss' of model 'toy' has no output 'count'");
  EXPECT_ERROR(device.parameter("head"), "model 'toy' has no parameter 'head'");
}

// Tables that would lead outside a buffer are refused before anything is allocated.
TEST(Device, ImpossibleTablesAreRefused) {
  burin_model model = toy_model;
  model.struct_size = 8;
  EXPECT_ERROR(checkModel(model), "compile the model again");

  model = toy_model;
  model.bytes[BURIN_STATE] -= 4;
  EXPECT_ERROR(checkModel(model), "but 2 moments of 66048 bytes");

  model = toy_model;
  model.bytes[BURIN_INPUTS] = 8;
  EXPECT_ERROR(checkModel(model), "of entry 'step' does not fit its buffer");

  burin_parameter parameter = toy_model.parameters[0];
  model = toy_model;
  model.parameters = &parameter;
  model.num_parameters = 1;
  parameter.layout = 7;
  EXPECT_ERROR(checkModel(model), "parameter 'table.weight' has layout 7, which this runtime does not know");
  parameter = toy_model.parameters[0];
  parameter.offset = 1024;
  EXPECT_ERROR(checkModel(model), "parameter 'table.weight' does not fit its buffer");

  burin_parameter twice[] = {toy_model.parameters[1], toy_model.parameters[1]};
  model.parameters = twice;
  model.num_parameters = 2;
  EXPECT_ERROR(checkModel(model), "two parameters are named 'bias'");

  model = toy_model;
  model.device = 9;
  EXPECT_ERROR(checkModel(model), "is for a kind of machine, 9, that this runtime does not know");
}

// What a launch on a GPU must say, a launch at a time.
TEST(Device, ImpossibleLaunchesAreRefused) {
  auto expectRefused = [](const burin_model &original, auto spoil, const char *message) {
    burin_launch launch = original.entries[0].launches[0];
    int64_t args[16];
    std::copy(launch.args, launch.args + launch.num_args, args);
    launch.args = args;
    spoil(launch, args);
    burin_entry entry = original.entries[0];
    entry.launches = &launch;
    entry.num_launches = 1;
    burin_model model = original;
    model.entries = &entry;
    model.num_entries = 1;
    EXPECT_ERROR(checkModel(model), message);
  };
  using Launch = burin_launch;
  expectRefused(
      toy_model, [](Launch &launch, int64_t *) { launch.kernel = nullptr; }, "has no kernel");
  checkModel(toy_cuda_model);
  const char *threads = "threads, which are not 32 to 1024 by 32";
  for (int64_t count : {0, 16, 48, 1056})
    expectRefused(
        toy_cuda_model, [=](Launch &launch, int64_t *) { launch.threads = count; }, threads);
  expectRefused(
      toy_cuda_model, [](Launch &launch, int64_t *) { launch.kernel_name = ""; }, "names no kernel");
  expectRefused(
      toy_cuda_model, [](Launch &launch, int64_t *) { launch.scratch_bytes = 100; }, "and 100 of scratch");
  expectRefused(
      toy_cuda_model, [](Launch &launch, int64_t *) { launch.shared_bytes = -1; }, "-1 bytes of shared");
  const char *nowhere = "has an argument that lies in no buffer";
  expectRefused(
      toy_cuda_model, [](Launch &, int64_t *args) { args[2] = 7; }, nowhere);
  expectRefused(
      toy_cuda_model, [](Launch &, int64_t *args) { args[3] = 1 << 20; }, nowhere);
  expectRefused(
      toy_cuda_model, [](Launch &launch, int64_t *) { --launch.num_args; }, nowhere);
}

TEST(Device, ModelsForGpusNeedTheTextOfTheirKernels) {
  burin_model model = toy_cuda_model;
  model.num_modules = 0;
  EXPECT_ERROR(checkModel(model), "model 'toy' is for GPUs and has no kernels for any");
  burin_module module = toy_cuda_model.modules[0];
  model.modules = &module;
  model.num_modules = 1;
  --module.bytes;
  EXPECT_ERROR(checkModel(model), "module 0 of model 'toy' is not a text for a compute capability");
}

// A program carries one model for each kind of machine, and they are the same model.
TEST(Device, ModelsOfAProgramMustMatch) {
  checkModels({&toy_model, &toy_cuda_model});
  checkModels({&toy_cuda_model, &toy_model});
  EXPECT_ERROR(checkModels({}), "the program has no model");
  EXPECT_ERROR(checkModels({&toy_model, &toy_model}), "the program has two models for the CPU: 'toy' and 'toy'");
  burin_model other = toy_cuda_model;
  other.vocab = 64;
  EXPECT_ERROR(checkModels({&toy_model, &other}), "'toy' and 'toy' differ in name, parameters or entries");
  other = toy_cuda_model;
  other.num_entries = 2; // an entry is missing in one of them
  EXPECT_ERROR(checkModels({&toy_model, &other}), "differ in name, parameters or entries");
  burin_parameter parameters[] = {toy_model.parameters[0], toy_model.parameters[1]};
  parameters[1].name = "bias2";
  other = toy_cuda_model;
  other.parameters = parameters;
  EXPECT_ERROR(checkModels({&toy_model, &other}), "differ in name, parameters or entries");
}

} // namespace
} // namespace burin::runtime
