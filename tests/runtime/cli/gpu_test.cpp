// Programs with code for GPUs where the machine is not as it must be, and how often they call its driver. The driver
// here computes nothing (support/fake_driver.c), except where runs as a whole are tested; what kernels compute is in
// device/cuda_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/expect_refused.h"
#include "support/program.h"

namespace burin::test {
namespace {

using nlohmann::json;

struct GpuTest : testing::Test {
  Folder folder;
  std::string data = folder.write("text", sampleText(3000));
  std::string out = folder.file("run"), checkpoint = out + "/checkpoint.safetensors";

  GpuTest() { machine(FAKE_DRIVER); }
  ~GpuTest() override {
    unsetenv("BURIN_CUDA_DRIVER");
    unsetenv("BURIN_FAKE");
    unsetenv("BURIN_FAKE_LOG");
  }

  static void machine(const std::string &driver, const std::string &fault = "") {
    setenv("BURIN_CUDA_DRIVER", driver.c_str(), 1);
    setenv("BURIN_FAKE", fault.c_str(), 1);
  }

  Result train(const char *program, std::vector<std::string> extra = {}) const {
    std::vector<std::string> arguments = {"train", "--data", data, "--out", out, "--threads", "1", "--steps", "20"};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    return run(program, arguments);
  }
};

// What the machine lacks, and what is said about it: a reason for `auto` to take the CPU.
struct Lack {
  const char *fault, *message;
};

const Lack lacks[] = {
    {"no_device", "there is a driver for NVIDIA GPUs, but no GPU"},
    {"no_devices", "there is a driver for NVIDIA GPUs, but no GPU"},
    {"no_context", "Fake GPU cannot be used: the fake driver says so (CUDA_ERROR_OUT_OF_MEMORY)"},
    {"old", "model 'toy' was compiled for GPUs of compute capability 8.0 and later; Fake GPU has 7.5"},
    {"small", "not enough memory on Fake GPU: model 'toy' needs 317832 bytes, of 1073741824 are 1000 free"},
    {"fragmented", "not enough memory on Fake GPU: 132096 bytes for optimizer state cannot be had"},
};

const Lack faults[] = {
    {"jit", "the GPU's driver failed while translating the kernels of model 'toy' (sm_80) for Fake GPU, which said: "
            "ptxas application ptx input, line 7; error : Unknown symbol 'x' ptxas fatal : aborted : the fake driver "
            "says so (CUDA_ERROR_INVALID_PTX)"},
    {"no_kernel", "the GPU's driver failed while looking for kernel 'lossRows': the fake driver says so "
                  "(CUDA_ERROR_NOT_FOUND)"},
    {"little_shared", "kernel 'lossRows' needs 8 bytes of shared memory for a block, Fake GPU has 4"},
    {"no_room", "kernel 'lossRows' in blocks of 64 threads with 8 bytes of shared memory does not fit a "
                "multiprocessor of Fake GPU"},
    {"kernel", "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)"},
};

TEST_F(GpuTest, WhatTheMachineLacksIsSaidInOneLine) {
  for (const auto &[fault, message] : lacks) {
    machine(FAKE_DRIVER, fault);
    expectRefused(train(TOY_GPU), 1, message);
    expectRefused(train(TOY_BOTH, {"--device", "gpu"}), 1, message);
  }
  machine(folder.file("libnone.so"));
  expectRefused(train(TOY_GPU), 1, "no driver for NVIDIA GPUs is installed: " + folder.file("libnone.so"));
  machine(FAKE_OLD_DRIVER);
  expectRefused(train(TOY_GPU), 1, "has no function cuGraphLaunch; a newer driver is needed");
}

TEST_F(GpuTest, WhatFailsOnTheGpuIsSaidInOneLine) {
  for (const auto &[fault, message] : faults) {
    machine(FAKE_DRIVER, fault);
    expectRefused(train(TOY_GPU), 1, message);
    Result both = train(TOY_BOTH); // no reason to take the CPU
    EXPECT_EQ(both.code, 1) << fault;
    EXPECT_NE(both.err.find(message), std::string::npos) << both.err;
  }
}

// A program with both kinds of code takes what there is and says which and why.
TEST_F(GpuTest, AutoTakesTheGpuIfItCan) {
  Result gpu = train(TOY_BOTH);
  EXPECT_EQ(gpu.code, 0) << gpu.err;
  EXPECT_EQ(gpu.err, "device: Fake GPU\n");
  EXPECT_NE(gpu.out.find("64 tokens a step, Fake GPU; "), std::string::npos) << gpu.out;
  for (const auto &[fault, message] : lacks) {
    machine(FAKE_DRIVER, fault);
    std::filesystem::remove_all(out);
    Result cpu = train(TOY_BOTH, {"--device", "auto"});
    EXPECT_EQ(cpu.code, 0) << cpu.err;
    EXPECT_EQ(cpu.err, std::string("device: the CPU, since ") + message + "\n");
    EXPECT_NE(cpu.out.find("64 tokens a step, 1 threads; "), std::string::npos) << cpu.out;
  }
  machine(FAKE_DRIVER);
  std::filesystem::remove_all(out);
  Result cpu = train(TOY_BOTH, {"--device", "cpu"});
  EXPECT_EQ(cpu.code, 0);
  EXPECT_EQ(cpu.err, "");
}

TEST_F(GpuTest, AKindWithoutCodeIsRefused) {
  for (const char *command : {"train", "eval", "generate", "bench", "info"}) {
    std::vector<std::string> arguments = {command};
    if (std::string(command) == "train" || std::string(command) == "eval")
      arguments.insert(arguments.end(), {"--data", data});
    if (std::string(command) == "eval" || std::string(command) == "generate")
      arguments.insert(arguments.end(), {"--checkpoint", checkpoint});
    arguments.insert(arguments.end(), {"--device", "gpu"});
    expectRefused(run(TOY, arguments), 2, "--device is gpu, but 'toy' was compiled for the CPU alone (x86-64)");
    arguments.back() = "cpu";
    expectRefused(run(TOY_GPU, arguments), 2, "--device is cpu, but 'toy' was compiled for GPUs alone (sm_80)");
    arguments.back() = "tpu";
    expectRefused(run(TOY_BOTH, arguments), 2, "tpu");
  }
}

// `info` tells of the program anywhere, and of the GPU what there is to tell.
TEST_F(GpuTest, InfoNeedsNoDriver) {
  Result result = run(TOY_GPU, {"info"});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const char *text : {"device           gpu\n", "kernels for      sm_80 (",
                           "GPU              Fake GPU, compute capability 9.0, 1073741824 bytes, 10 multiprocessors at "
                           "1000 MHz, driver for CUDA 13.0\n",
                           "scratch, per block                   512\n"})
    EXPECT_NE(result.out.find(text), std::string::npos) << text << "\n" << result.out;
  json facts = json::parse(run(TOY_GPU, {"info", "--json"}).out);
  EXPECT_EQ(facts["device"], "gpu");
  EXPECT_EQ(facts["kernel_texts"][0]["architecture"], "sm_80");
  EXPECT_EQ(facts["gpu"]["compute_capability"], "9.0");
  EXPECT_EQ(facts["gpu"]["text"], "sm_80");
  EXPECT_EQ(facts["bytes"]["scratch_per_block"], 512);

  machine(folder.file("libnone.so"));
  result = run(TOY_BOTH, {"info"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("GPU              none: no driver for NVIDIA GPUs is installed: "), std::string::npos);
  EXPECT_NE(run(TOY_BOTH, {"info", "--device", "cpu"}).out.find("cpu              x86-64\n"), std::string::npos);
}

TEST_F(GpuTest, BenchReportsTheGpu) {
  Result result = run(TOY_GPU, {"bench", "--entry", "step", "--pairs", "1", "--seconds", "0.01"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("Fake GPU: 317832 bytes allocated, peak 2560 GFLOP/s in f32\n"), std::string::npos)
      << result.out;
  Result line = run(TOY_GPU, {"bench", "--entry", "step", "--pairs", "1", "--seconds", "0.01", "--json"});
  json facts = json::parse(line.out);
  EXPECT_EQ(facts["device"], "Fake GPU");
  EXPECT_EQ(facts["text"], "sm_80");
  EXPECT_EQ(facts["device_bytes"], 317832);
  EXPECT_EQ(facts["peak_gflops"], 2560);
  // Launch by launch by the GPU's clock: the fake one takes two milliseconds for each.
  Result ops = run(TOY_GPU, {"bench", "--entry", "step", "--pairs", "1", "--seconds", "0.01", "--by-op", "--json"});
  ASSERT_EQ(ops.code, 0) << ops.err;
  EXPECT_NE(ops.out.find("\"kernel\":\"lossRows\",\"cells\":64,\"ms\":2.0"), std::string::npos) << ops.out;

  machine(FAKE_DRIVER, "no_clock");
  result = run(TOY_GPU, {"bench", "--entry", "step", "--pairs", "1", "--seconds", "0.01"});
  EXPECT_NE(result.out.find("peak unknown\n"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find(" GFLOP/s  of an unknown peak, Fake GPU\n"), std::string::npos) << result.out;
  line = run(TOY_GPU, {"bench", "--entry", "step", "--pairs", "1", "--seconds", "0.01", "--json"});
  EXPECT_TRUE(json::parse(line.out)["peak_fraction"].is_null());
  EXPECT_EQ(train(TOY_GPU).out.find("of peak"), std::string::npos);
}

// A run of many steps makes each entry's graphs once, launches no kernel by itself after that, and waits for the whole
// GPU only where it reads weights.
TEST_F(GpuTest, AStepIsAGraphAndWaitsForNothing) {
  auto calls = [&](const char *steps) {
    setenv("BURIN_FAKE_LOG", folder.file("calls").c_str(), 1);
    Result result = run(TOY_GPU, {"train", "--data", data, "--out", out, "--steps", steps, "--save-every", "0"});
    EXPECT_EQ(result.code, 0) << result.err;
    std::map<std::string, int64_t> counts;
    std::ifstream file(folder.file("calls"));
    std::string name;
    for (int64_t count = 0; file >> name >> count;)
      counts[name] = count;
    return counts;
  };
  auto few = calls("100"), many = calls("300");
  EXPECT_EQ(many["cuGraphLaunch"] - few["cuGraphLaunch"], 2 * 200);
  for (const char *once : {"cuStreamBeginCapture_v2", "cuGraphInstantiateWithFlags", "cuLaunchKernel", "cuMemAlloc_v2",
                           "cuMemHostAlloc", "cuEventCreate", "cuStreamSynchronize"})
    EXPECT_EQ(many[once], few[once]) << once;
  // Inputs of step and update; loss and norm.
  EXPECT_EQ(many["cuMemcpyHtoDAsync_v2"] - few["cuMemcpyHtoDAsync_v2"], 2 * 200);
  EXPECT_EQ(many["cuMemcpyDtoHAsync_v2"] - few["cuMemcpyDtoHAsync_v2"], 2 * 200);
  // All is given back.
  EXPECT_EQ(many["cuMemAlloc_v2"], many["cuMemFree_v2"]);
  EXPECT_EQ(many["cuMemHostAlloc"], many["cuMemFreeHost"]);
  EXPECT_EQ(many["cuEventCreate"], many["cuEventDestroy_v2"]);
  EXPECT_EQ(many["cuGraphInstantiateWithFlags"], many["cuGraphExecDestroy"]);
  EXPECT_EQ(many["cuStreamEndCapture"], many["cuGraphDestroy"]);
  EXPECT_EQ(many["cuDevicePrimaryCtxRelease_v2"], 1);
}

// Every step is in the log although none was waited for, also when the run ends early.
TEST_F(GpuTest, EveryStepIsLogged) {
  Result result = train(TOY_GPU, {"--eval-every", "7", "--stop-after", "15"});
  ASSERT_EQ(result.code, 0) << result.err;
  Result rest = run(TOY_GPU, {"train", "--resume", "--out", out});
  ASSERT_EQ(rest.code, 0) << rest.err;
  std::ifstream log(out + "/log.jsonl");
  int64_t step = 0, evaluations = 0;
  for (std::string line; std::getline(log, line);) {
    json parsed = json::parse(line);
    if (parsed["event"] == "step") {
      EXPECT_EQ(parsed["step"], ++step);
      EXPECT_EQ(parsed["tokens"], 64 * step);
    }
    if (parsed["event"] == "valid") {
      EXPECT_EQ(parsed["step"], 7 * ++evaluations);
      EXPECT_EQ(step, 7 * evaluations) << "logged before all that it stands for";
    }
  }
  EXPECT_EQ(step, 20);
  EXPECT_EQ(evaluations, 2);
}

// The losses of a run, by step.
std::vector<double> losses(const std::string &out) {
  std::vector<double> all;
  std::ifstream log(out + "/log.jsonl");
  for (std::string line; std::getline(log, line);)
    if (json parsed = json::parse(line); parsed["event"] == "step")
      all.push_back(parsed["loss"]);
  return all;
}

// As on a CPU: what was interrupted ends with the same bits. From here on the GPU is emulated.
TEST_F(GpuTest, AnInterruptedRunGoesOnToTheBit) {
  machine(SIMT_DRIVER);
  ASSERT_EQ(train(TOY_GPU, {"--save-every", "0"}).code, 0);
  const std::string whole = readFile(checkpoint);
  const std::vector<double> expected = losses(out);
  ASSERT_EQ(expected.size(), 20u);
  ASSERT_EQ(train(TOY_GPU, {"--save-every", "0", "--stop-after", "8"}).code, 0);
  EXPECT_EQ(losses(out).size(), 8u);
  ASSERT_EQ(run(TOY_GPU, {"train", "--resume", "--out", out}).code, 0);
  EXPECT_EQ(losses(out), expected);
  EXPECT_TRUE(readFile(checkpoint) == whole);
}

TEST_F(GpuTest, ARunGoesOnOnTheOtherMachine) {
  machine(SIMT_DRIVER);
  ASSERT_EQ(train(TOY).code, 0);
  const std::vector<double> expected = losses(out);
  const std::pair<const char *, const char *> ways[] = {{TOY_GPU, TOY}, {TOY, TOY_GPU}};
  for (auto [first, second] : ways) {
    ASSERT_EQ(train(first, {"--stop-after", "8"}).code, 0);
    ASSERT_EQ(run(second, {"train", "--resume", "--out", out}).code, 0);
    const std::vector<double> all = losses(out);
    ASSERT_EQ(all.size(), expected.size());
    for (size_t step = 0; step < all.size(); ++step)
      EXPECT_NEAR(all[step], expected[step], 1e-5) << "step " << step + 1;
  }
}

// A signal settles the step that is under way: it is in the log and in the checkpoint.
TEST_F(GpuTest, ASignalSavesTheLastStep) {
  machine(SIMT_DRIVER);
  Program program(TOY_GPU, {"train", "--data", data, "--out", out, "--steps", "100000000", "--print-every", "1",
                            "--save-every", "0"});
  for (int i = 0; i < 5000 && program.out().find("step 3/") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  program.signal(SIGTERM);
  Result result = program.wait();
  EXPECT_EQ(result.code, 143) << result.err;
  size_t last = result.out.rfind("stopped after step ");
  ASSERT_NE(last, std::string::npos) << result.out;
  std::string step = result.out.substr(last + 19, result.out.find(';', last) - last - 19);
  EXPECT_NE(result.out.find("step " + step + "/100000000"), std::string::npos);
  EXPECT_EQ(std::to_string(losses(out).size()), step);
  EXPECT_NE(readFile(checkpoint).find("\\\"step\\\":" + step), std::string::npos);
}

// Steps whose gradients are not finite are counted, and too many end the run, though the next one has begun by then.
TEST_F(GpuTest, TooManySkippedStepsStopTheRun) {
  machine(SIMT_DRIVER);
  const std::string last = folder.write("last", std::string(3000, '\x7f'));
  Result result =
      run(TOY_GPU, {"train", "--data", last, "--out", out, "--steps", "20", "--tokens", "bytes", "--max-skipped", "3"});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("step 1 skipped: the gradients' norm is inf\n"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("error: stopped at step 3 after 3 skipped steps in a row: "), std::string::npos);
  EXPECT_EQ(losses(out).size(), 3u);
  EXPECT_NE(readFile(checkpoint).find("\\\"step\\\":3,"), std::string::npos);
}

} // namespace
} // namespace burin::test
