// A run that was interrupted and resumed is the run that never was interrupted: weights, moments, counters and log.
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "store/safetensors.h"
#include "support/program.h"
#include "support/token_bytes.h"

namespace burin::test {
namespace {

using nlohmann::json;

// The log without what a clock writes into it.
std::vector<json> timelessLog(const std::string &out) {
  std::vector<json> lines;
  std::ifstream log(out + "/log.jsonl");
  for (std::string line; std::getline(log, line);) {
    json object = json::parse(line);
    object.erase("ms");
    object.erase("tokens_per_s");
    object.erase("checkpoint");
    lines.push_back(object);
  }
  return lines;
}

struct ResumeTest : testing::Test {
  Folder folder;
  std::string data = folder.write("text", sampleText(5000));
  std::string whole = folder.file("whole"), parts = folder.file("parts");

  std::vector<std::string> arguments(const std::string &out, std::vector<std::string> extra = {}) {
    std::vector<std::string> result = {
        "train", "--data",       data, "--out",  out, "--steps",      "30", "--lr",      "0.05", "--accumulate",
        "2",     "--eval-every", "8",  "--seed", "5", "--save-every", "4",  "--threads", "1"};
    result.insert(result.end(), extra.begin(), extra.end());
    return result;
  }

  void expectSameRuns() {
    EXPECT_TRUE(readFile(whole + "/checkpoint.safetensors") == readFile(parts + "/checkpoint.safetensors"));
    EXPECT_EQ(timelessLog(whole), timelessLog(parts));
    EXPECT_EQ(timelessLog(parts).size(), 1u + 30 + 3 + 1);
  }
};

TEST_F(ResumeTest, StoppedRunContinuesToTheSameBits) {
  ASSERT_EQ(run(TOY, arguments(whole)).code, 0);
  Result stopped = run(TOY, arguments(parts, {"--stop-after", "7"}));
  ASSERT_EQ(stopped.code, 0) << stopped.err;
  EXPECT_NE(stopped.out.find("stopped after step 7"), std::string::npos);
  // The second part names nothing but the folder, and uses another number of threads.
  Result again = run(TOY, {"train", "--resume", "--out", parts, "--stop-after", "16", "--threads", "3"});
  ASSERT_EQ(again.code, 0) << again.err;
  ASSERT_EQ(run(TOY, {"train", "--resume", "--out", parts, "--threads", "1"}).code, 0);
  expectSameRuns();
}

// The same for ids of a file, every window once: 40 windows and 8 of them a step, so each fifth step ends an epoch.
TEST_F(ResumeTest, EpochsOfTokenFilesContinueToTheSameBits) {
  std::vector<uint16_t> ids;
  for (char c : sampleText(720))
    ids.push_back(static_cast<unsigned char>(c));
  data = folder.write("ids.bin", bytesOf(ids));
  Result first = run(TOY, arguments(whole, {"--windows", "epochs"}));
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.out.find(data + " (raw token ids of 16 bits (nanoGPT)): 648 tokens to train on, 72 to validate; "
                                  "epochs of 40 windows"),
            std::string::npos)
      << first.out;
  EXPECT_EQ(first.out.find("bits per byte"), std::string::npos) << "nobody said what the ids mean";
  EXPECT_EQ(first.out.find("sample:"), std::string::npos);
  ASSERT_EQ(run(TOY, arguments(parts, {"--windows", "epochs", "--stop-after", "4"})).code, 0);
  for (const char *stop : {"5", "6", "9"})
    ASSERT_EQ(run(TOY, {"train", "--resume", "--out", parts, "--stop-after", stop}).code, 0);
  ASSERT_EQ(run(TOY, {"train", "--resume", "--out", parts, "--threads", "1"}).code, 0);
  expectSameRuns();
  // Read as a text they would be something else, and random windows another run.
  ASSERT_EQ(run(TOY, arguments(parts)).code, 0);
  EXPECT_NE(readFile(whole + "/checkpoint.safetensors"), readFile(parts + "/checkpoint.safetensors"));
}

// What a killed run logged after its last checkpoint happens again and is logged once.
TEST_F(ResumeTest, KilledRunContinuesToTheSameBits) {
  ASSERT_EQ(run(TOY, arguments(whole)).code, 0);
  for (int kills = 0; kills < 3;) {
    bool fresh = !std::ifstream(parts + "/checkpoint.safetensors").good();
    Program program(TOY, fresh ? arguments(parts) : std::vector<std::string>{"train", "--resume", "--out", parts});
    std::string goal = "step " + std::to_string(6 + 7 * kills) + "/30";
    bool reached = false;
    for (int wait = 0; wait < 2000 && !reached; ++wait) {
      reached = program.out().find(goal) != std::string::npos;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ASSERT_TRUE(reached) << program.out();
    program.signal(SIGKILL);
    program.wait();
    ++kills;
  }
  std::ofstream(parts + "/log.jsonl", std::ios::app) << "{\"event\":\"step\",\"st"; // a torn line
  ASSERT_EQ(run(TOY, {"train", "--resume", "--out", parts, "--threads", "1"}).code, 0);
  expectSameRuns();
}

TEST_F(ResumeTest, FinishedRunResumesToItsSummary) {
  ASSERT_EQ(run(TOY, arguments(whole)).code, 0);
  std::vector<json> before = timelessLog(whole);
  Result result = run(TOY, {"train", "--resume", "--out", whole});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("validation loss"), std::string::npos);
  EXPECT_EQ(timelessLog(whole), before);
}

TEST_F(ResumeTest, OtherOptionsAreSaidAndOtherTextIsRefused) {
  ASSERT_EQ(run(TOY, arguments(parts, {"--stop-after", "7"})).code, 0);
  std::string other = folder.write("other", sampleText(5001));
  Result refused = run(TOY, {"train", "--resume", "--out", parts, "--data", other});
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(
      refused.err.find("is not the data that the run in " + parts + " was trained on (5001 bytes now, 5000 then)"),
      std::string::npos)
      << refused.err;
  Result shorter = run(TOY, {"train", "--resume", "--out", parts, "--steps", "5"});
  EXPECT_EQ(shorter.code, 1);
  EXPECT_NE(shorter.err.find("is at step 7, beyond the 5 steps of this run"), std::string::npos) << shorter.err;
  Result past = run(TOY, {"train", "--resume", "--out", parts, "--stop-after", "7"});
  EXPECT_EQ(past.code, 2);
  EXPECT_NE(past.err.find("--stop-after is 7, but the run in " + parts + " is at step 7 already"), std::string::npos);
  // What was trained on must not become validation, whoever moves the cut.
  Result cut = run(TOY, {"train", "--resume", "--out", parts, "--valid-fraction", "0.3"});
  EXPECT_EQ(cut.code, 1);
  EXPECT_EQ(cut.err.rfind("note: --valid-fraction is now 0.3, the run began with none\n", 0), 0u) << cut.err;
  EXPECT_NE(cut.err.find("error: data file " + data + " is cut elsewhere than when the run in " + parts +
                         " began (3500 tokens to train on now, 4500 then): what it was trained on would be validated "
                         "on; the cut must stay as it was\n"),
            std::string::npos)
      << cut.err;
  Result constant = run(TOY, {"train", "--resume", "--out", parts, "--constant-lr", "--stop-after", "8"});
  EXPECT_EQ(constant.code, 0) << constant.err;
  EXPECT_NE(constant.err.find("note: --schedule is now \"constant\""), std::string::npos) << constant.err;
  Result longer = run(TOY, {"train", "--resume", "--out", parts, "--steps", "9"});
  EXPECT_EQ(longer.code, 0) << longer.err;
  EXPECT_NE(longer.err.find("note: --steps is now 9, the run began with 30"), std::string::npos) << longer.err;
}

} // namespace
} // namespace burin::test
