// Signals, full disks, kills and numbers that are not finite: the program ends with one clear line and loses nothing.
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include "store/safetensors.h"
#include "support/program.h"

namespace burin::test {
namespace {

struct FaultsTest : testing::Test {
  Folder folder;
  std::string data = folder.write("text", sampleText(5000));
  std::string out = folder.file("run"), checkpoint = out + "/checkpoint.safetensors";

  std::vector<std::string> train(std::vector<std::string> extra = {}) {
    std::vector<std::string> result = {"train", "--data", data, "--out", out, "--threads", "1"};
    result.insert(result.end(), extra.begin(), extra.end());
    return result;
  }

  static void waitFor(const Program &program, const std::string &text) {
    for (int i = 0; i < 5000 && program.out().find(text) == std::string::npos; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
};

// Ctrl-C finishes the step, saves and exits with the shell's code for the signal.
TEST_F(FaultsTest, SignalsSaveAndExit) {
  for (auto [signal, code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143), std::pair(SIGHUP, 129)}) {
    std::filesystem::remove_all(out);
    Program program(TOY, train({"--steps", "100000000", "--print-every", "1", "--save-every", "0"}));
    waitFor(program, "step 3/");
    program.signal(signal);
    Result result = program.wait();
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_NE(result.out.find(checkpoint + " continues with --resume"), std::string::npos) << result.out;
    EXPECT_GE(runtime::SafetensorsReader(checkpoint).tensors().size(), 6u);
    // It saved the very step that it reported last.
    size_t last = result.out.rfind("stopped after step ");
    std::string step = result.out.substr(last + 19, result.out.find(';', last) - last - 19);
    EXPECT_NE(result.out.find("step " + step + "/100000000"), std::string::npos);
    EXPECT_NE(runtime::SafetensorsReader(checkpoint).metadata().at("run").find("\"step\":" + step), std::string::npos);
  }
}

// Killed at any moment of a run that saves after every step, a complete checkpoint is there.
TEST_F(FaultsTest, KillAtAnyMomentLeavesACheckpoint) {
  ASSERT_EQ(run(TOY, train({"--steps", "1"})).code, 0);
  for (int round = 0; round < 25; ++round) {
    Program program(TOY, train({"--steps", "100000000", "--save-every", "1", "--print-every", "1"}));
    waitFor(program, "step 1/");
    std::this_thread::sleep_for(std::chrono::microseconds(700 * round));
    program.signal(SIGKILL);
    program.wait();
    runtime::SafetensorsReader file(checkpoint); // throws on the least damage
    ASSERT_EQ(file.tensors().size(), 6u);
  }
  EXPECT_EQ(run(TOY, {"eval", "--data", data, "--checkpoint", checkpoint}).code, 0);
}

// A run that is killed before its first step already has a checkpoint, in place of an earlier run's.
TEST_F(FaultsTest, ACheckpointIsThereBeforeTheFirstStep) {
  ASSERT_EQ(run(TOY, train({"--steps", "7"})).code, 0);
  Program program(TOY, train({"--steps", "100000000", "--save-every", "0", "--print-every", "1"}));
  waitFor(program, "step 1/");
  program.signal(SIGKILL);
  program.wait();
  Result result = run(TOY, {"train", "--resume", "--out", out, "--steps", "3"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("continues after step 0\n"), std::string::npos) << result.out;
}

TEST_F(FaultsTest, FullDiskKeepsThePreviousCheckpoint) {
  ASSERT_EQ(run(TOY, train({"--steps", "2"})).code, 0);
  std::string before = readFile(checkpoint);
  Result result = run(TOY, train({"--steps", "9", "--save-every", "5"}), {.fileSize = before.size() / 2});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("error: cannot write " + checkpoint + ".tmp: File too large; what " + checkpoint +
                            " held before is untouched\n"),
            std::string::npos)
      << result.err;
  EXPECT_TRUE(readFile(checkpoint) == before);
  EXPECT_FALSE(std::filesystem::exists(checkpoint + ".tmp"));
}

// A text that loses its pages under the mapping: one line, the last checkpoint, and no "Bus error".
TEST_F(FaultsTest, DataThatIsCutOffEndsTheRunWithALine) {
  for (const char *windows : {"random", "epochs"}) {
    data = folder.write("text", sampleText(500'000));
    Program program(TOY,
                    train({"--tokens", "bytes", "--steps", "100000000", "--print-every", "1", "--windows", windows}));
    waitFor(program, "step 3/");
    std::filesystem::resize_file(data, 5000);
    Result result = program.wait();
    EXPECT_EQ(result.code, 1) << result.err;
    EXPECT_EQ(result.err.substr(result.err.find("error: ")),
              "error: data file " + data +
                  " was cut off while it was in use: it has 5000 bytes now, 500000 when it was opened\n");
    EXPECT_GE(runtime::SafetensorsReader(checkpoint).tensors().size(), 6u);
  }
}

TEST_F(FaultsTest, UnwritableFolderIsFoundBeforeTraining) {
  std::filesystem::create_directory(out);
  std::filesystem::permissions(out, std::filesystem::perms(0555));
  Result result = run(TOY, train(), {.unprivileged = true});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err, "error: the output folder " + out + " is not writable: Permission denied\n");
  EXPECT_EQ(result.out, "");
}

TEST_F(FaultsTest, TwoRunsCannotShareAFolder) {
  Program first(TOY, train({"--steps", "100000000", "--print-every", "1"}));
  waitFor(first, "step 1/");
  Result second = run(TOY, train());
  EXPECT_EQ(second.code, 1);
  EXPECT_EQ(second.err, "error: the output folder " + out + " is in use by another run\n");
}

// The toy model turns the gradient of its bias infinite wherever the last id is a target.
TEST_F(FaultsTest, NonFiniteGradientsAreSkippedCountedAndNamed) {
  std::string text = sampleText(5000);
  for (size_t i = 100; i < 4500; i += 400)
    text[i] = '\x7f';
  data = folder.write("some", text);
  Result result = run(TOY, train({"--tokens", "bytes", "--steps", "60", "--lr", "0.05", "--max-skipped", "50"}));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find(" skipped: the gradient of 'bias' is inf at element 127\n"), std::string::npos)
      << result.err;
  EXPECT_NE(result.out.find("skipped steps    "), std::string::npos) << result.out;
  EXPECT_NE(readFile(out + "/log.jsonl").find("\"skipped\":\"the gradient of 'bias' is inf"), std::string::npos);
}

TEST_F(FaultsTest, TooManySkippedStepsStopTheRun) {
  data = folder.write("bad", std::string(3000, '\x7f'));
  Result result = run(TOY, train({"--tokens", "bytes", "--max-skipped", "3"}));
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("error: stopped at step 3 after 3 skipped steps in a row: the gradient of 'bias' is inf"),
            std::string::npos)
      << result.err;
  EXPECT_TRUE(std::filesystem::exists(checkpoint));
}

TEST_F(FaultsTest, NonFiniteWeightsAreSaid) {
  ASSERT_EQ(run(TOY, train({"--steps", "5"})).code, 0);
  std::string content = readFile(checkpoint);
  uint64_t header = 0;
  std::memcpy(&header, content.data(), sizeof header);
  std::memset(content.data() + 8 + header, 0xff, 65536); // the table is the first tensor: every weight a NaN
  folder.write("run/checkpoint.safetensors", content);
  Result result = run(TOY, {"train", "--resume", "--out", out, "--steps", "20", "--max-skipped", "2"});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("after 2 skipped steps in a row: the loss is "), std::string::npos) << result.err;
  Result text = run(TOY, {"generate", "--checkpoint", checkpoint});
  EXPECT_EQ(text.code, 1);
  EXPECT_NE(text.err.find("error: the model's logit for token 0 is "), std::string::npos) << text.err;
}

} // namespace
} // namespace burin::test
