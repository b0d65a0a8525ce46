// From a text to a story through the programs: a vocabulary, a folder of ids, a run, and a checkpoint that needs
// neither.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "data/prepared.h"
#include "error.h"
#include "support/program.h"

namespace burin::test {
namespace {

using nlohmann::json;

// Tales of twenty or so tokens with their mark.
std::string tales(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "Tale " + std::to_string(i) + ": " + sampleText(60 + static_cast<size_t>(i * 7 % 50)) + "\n<|endoftext|>\n";
  return text;
}

struct PrepareProgramTest : testing::Test {
  Folder folder;
  std::string text = folder.write("tales.txt", tales(300)), vocabulary = folder.file("vocabulary"),
              prepared = folder.file("prepared"), out = folder.file("run"),
              checkpoint = out + "/checkpoint.safetensors";

  void makeVocabulary(const std::string &path, int size) {
    Result result =
        run(BURIN_TEXT, {"train", "--vocab", std::to_string(size), "--special", "<|endoftext|>", "--out", path, text});
    ASSERT_EQ(result.code, 0) << result.err;
  }
  Result prepare(std::vector<std::string> extra = {}) {
    std::vector<std::string> arguments = {"prepare", "--tokenizer", vocabulary, "--out", prepared, "--valid", "0.1"};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    arguments.push_back(text);
    return run(BURIN_TEXT, arguments);
  }
  static Result train(std::vector<std::string> extra) {
    std::vector<std::string> arguments = {"train", "--steps", "20", "--lr", "0.1", "--threads", "1"};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    return run(TOY_LARGE, arguments);
  }
};

#define EXPECT_SAYS(text, expected)                                                                                    \
  EXPECT_NE((text).find(expected), std::string::npos) << "said:     " << (text) << "\nexpected: " << (expected)

TEST_F(PrepareProgramTest, FromATextToAStory) {
  makeVocabulary(vocabulary, 300);
  Result made = prepare({"--shard-tokens", "2000"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_SAYS(made.err, text + ": a text\n");
  EXPECT_SAYS(made.err, "100 %  ");
  EXPECT_SAYS(made.out, prepared + ": ");
  EXPECT_SAYS(made.out, " %) to validate, 16 bits each, in ");
  EXPECT_SAYS(made.out, " bytes per token\n");
  Result trained = train({"--data", prepared, "--out", out, "--windows", "epochs", "--check"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_SAYS(trained.out, prepared + " (token ids of 16 bits (burin-text) in ");
  for (const char *line : {"validation loss  ", "loss per byte    ", "bits per byte    ", "sample:\n"})
    EXPECT_SAYS(trained.out, line);

  // Evaluated on the same tokens from the folder, and, encoded by the checkpoint's tokenizer, on the text.
  auto evaluate = [&](const std::string &data, const std::string &part) {
    Result result = run(TOY_LARGE, {"eval", "--data", data, "--checkpoint", checkpoint, "--part", part, "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    return json::parse(result.out);
  };
  json ofFolder = evaluate(prepared, "all"), ofText = evaluate(text, "all");
  // The text's last line break follows the last mark, and prepare marks the end of the file once more.
  EXPECT_EQ(ofFolder["tokens"].get<int>(), ofText["tokens"].get<int>() + 1);
  EXPECT_NEAR(ofFolder["loss_per_byte"].get<double>() / ofText["loss_per_byte"].get<double>(), 1, 0.01);

  // The checkpoint alone writes; the text stops at its end, or with --past-end at --count tokens.
  std::filesystem::remove_all(vocabulary);
  std::filesystem::remove_all(prepared);
  Result story = run(TOY_LARGE, {"generate", "--checkpoint", checkpoint, "--prompt", "Tale", "--count", "500"});
  ASSERT_EQ(story.code, 0) << story.err;
  EXPECT_EQ(story.out.rfind("Tale", 0), 0u);
  EXPECT_EQ(story.out.find("<|endoftext|>"), std::string::npos);
  Result on = run(TOY_LARGE, {"generate", "--checkpoint", checkpoint, "--past-end", "--count", "500"});
  EXPECT_SAYS(on.out, "<|endoftext|>");
  EXPECT_GT(on.out.size(), 500u);
}

// The same without a folder: the program encodes the text itself, and the tokenizer is in the checkpoint.
TEST_F(PrepareProgramTest, ATextIsEncodedByTheProgram) {
  makeVocabulary(vocabulary, 300);
  Result trained = train({"--data", text, "--tokenizer", vocabulary, "--out", out, "--stop-after", "5"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_SAYS(trained.out, text + " (a text, encoded with the tokenizer): ");
  // A run goes on with the tokenizer of its checkpoint; another one is refused.
  makeVocabulary(folder.file("other"), 290);
  Result other = train({"--resume", "--tokenizer", folder.file("other"), "--out", out});
  EXPECT_EQ(other.code, 1);
  EXPECT_SAYS(other.err, "error: the tokenizer " + folder.file("other") +
                             " is not the one that the run was trained with: its hash is ");
  Result gone = train({"--resume", "--tokenizer", vocabulary, "--out", out, "--stop-after", "10"});
  EXPECT_EQ(gone.code, 0) << gone.err;
  std::filesystem::remove_all(vocabulary);
  EXPECT_EQ(train({"--resume", "--out", out}).code, 0);
}

TEST_F(PrepareProgramTest, WhatDoesNotFitIsRefusedBeforeTraining) {
  makeVocabulary(vocabulary, 300);
  ASSERT_EQ(prepare().code, 0);
  Result narrow = run(TOY, {"train", "--data", prepared, "--out", out});
  EXPECT_EQ(narrow.code, 1);
  EXPECT_SAYS(narrow.err, "error: the tokenizer has 300 ids, but the model's vocabulary has room for 128\n");
  ASSERT_EQ(train({"--data", prepared, "--out", out}).code, 0);
  makeVocabulary(vocabulary, 290);
  ASSERT_EQ(prepare().code, 0);
  Result other = run(TOY_LARGE, {"eval", "--data", prepared, "--checkpoint", checkpoint});
  EXPECT_EQ(other.code, 1);
  EXPECT_SAYS(other.err, "was made with another tokenizer than the model was trained with: its hash is ");
  EXPECT_EQ(train({"--data", prepared, "--out", out, "--resume"}).code, 1);
}

// Ids of which nobody said what they mean train a model; what it writes needs to be told.
TEST_F(PrepareProgramTest, IdsWithoutATokenizer) {
  std::string ids;
  for (char c : tales(100))
    (ids += c) += '\0';
  std::string data = folder.write("ids.bin", ids);
  ASSERT_EQ(train({"--data", data, "--out", out}).code, 0);
  Result ids16 = run(BURIN_TEXT, {"prepare", "--tokenizer", "bytes", "--out", prepared, data});
  EXPECT_SAYS(ids16.err, data + ": raw token ids of 16 bits (nanoGPT)\n");
  EXPECT_EQ(ids16.out.find("bytes per token"), std::string::npos) << ids16.out;
  Result mute = run(TOY_LARGE, {"generate", "--checkpoint", checkpoint});
  EXPECT_EQ(mute.code, 1);
  EXPECT_SAYS(mute.err, "error: checkpoint " + checkpoint +
                            ": trained on token ids without a tokenizer; --tokenizer says what they mean\n");
  Result told = run(TOY_LARGE, {"generate", "--checkpoint", checkpoint, "--tokenizer", "bytes", "--count", "20"});
  EXPECT_EQ(told.code, 0) << told.err;
  // Said at the start, it is in the checkpoint.
  ASSERT_EQ(train({"--data", data, "--tokenizer", "bytes", "--out", out}).code, 0);
  EXPECT_EQ(run(TOY_LARGE, {"generate", "--checkpoint", checkpoint}).code, 0);
}

// Killed at any moment: each shard that is there is whole, and the folder opens only if all are, or with what it held.
TEST_F(PrepareProgramTest, KillAtAnyMomentLeavesNoHalfShardThatOpens) {
  makeVocabulary(vocabulary, 300);
  text = folder.write("long.txt", tales(20'000));
  int opened = 0, refused = 0;
  const std::string begun = prepared + "/.burin-unfinished";
  for (int round = 0; round < 20; ++round) {
    std::filesystem::remove_all(begun);
    Program program(BURIN_TEXT,
                    {"prepare", "--tokenizer", vocabulary, "--out", prepared, "--shard-tokens", "20000", text});
    for (int i = 0; i < 10'000 && !std::filesystem::exists(begun); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(4 * round));
    program.signal(SIGKILL);
    program.wait();
    for (const auto &entry : std::filesystem::directory_iterator(prepared))
      if (entry.path().extension() == ".tokens")
        runtime::TokenFile(entry.path().string()).expectChecksum(); // throws on the least damage
    try {
      runtime::Prepared list = runtime::readPrepared(prepared);
      runtime::openShards(prepared, list, list.train);
      runtime::openShards(prepared, list, list.valid);
      ++opened;
    } catch (const runtime::Error &error) {
      EXPECT_SAYS(std::string(error.what()), "has no prepared.json");
      ++refused;
    }
  }
  EXPECT_GT(refused, 0) << "killed too late, " << opened << " times";
  EXPECT_EQ(prepare().code, 0);
  runtime::Prepared list = runtime::readPrepared(prepared);
  for (const auto &entry : std::filesystem::directory_iterator(prepared))
    EXPECT_NE(entry.path().extension(), ".tmp") << "left over: " << entry.path();
}

TEST_F(PrepareProgramTest, WrongFlagsAreRefused) {
  auto refused = [&](std::vector<std::string> extra, int code, const std::string &message) {
    std::vector<std::string> arguments = {"prepare", "--tokenizer", "bytes", "--out", prepared};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    Result result = run(BURIN_TEXT, arguments);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_SAYS(result.err, "error: ");
    EXPECT_SAYS(result.err, message);
  };
  refused({}, 2, "FILE");
  refused({"--valid", "1", text}, 2, "--valid is 1, but must lie in [0, 0.9]");
  refused({"--valid", "nan", text}, 2, "--valid is nan");
  refused({"--shard-tokens", "0", text}, 2, "--shard-tokens is 0, but must lie in [1000, 1000000000000]");
  refused({"--shard-tokens", "1e12", text}, 2, "'1e12' is not a whole number");
  refused({"--shard-tokens", "99999999999999999999", text}, 2, "'99999999999999999999' is too large");
  refused({"--shard-tokens", "9223372036854775807", text}, 2, "--shard-tokens is 9223372036854775807, but");
  refused({"--tokenizer", "none", text}, 2, "--tokenizer");
  refused({folder.file("none")}, 1, "cannot open data file " + folder.file("none"));
  EXPECT_FALSE(std::filesystem::exists(prepared)) << "what is refused leaves no folder";
  Result full = run(BURIN_TEXT, {"prepare", "--tokenizer", "bytes", "--out", prepared, text}, {.fileSize = 1000});
  EXPECT_EQ(full.code, 1);
  EXPECT_SAYS(full.err, "File too large");
  EXPECT_FALSE(std::filesystem::exists(prepared + "/train-00000.tokens"));
}

} // namespace
} // namespace burin::test
