// The command line as a user meets it: help, flags, results and messages of the program itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/expect_refused.h"
#include "support/program.h"

namespace burin::test {
namespace {

using nlohmann::json;

struct CliTest : testing::Test {
  Folder folder;
  std::string data = folder.write("text", sampleText(3000));
  std::string out = folder.file("run");

  Result train(std::vector<std::string> extra) {
    std::vector<std::string> arguments = {"train", "--data", data, "--out", out, "--threads", "1"};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    return run(TOY, arguments);
  }
};

TEST_F(CliTest, EveryCommandHasHelp) {
  EXPECT_EQ(run(TOY, {"--help"}).code, 0);
  for (const char *command : {"train", "eval", "generate", "info", "bench"}) {
    Result result = run(TOY, {command, "--help"});
    EXPECT_EQ(result.code, 0);
    EXPECT_NE(result.out.find("Usage: toy " + std::string(command)), std::string::npos) << result.out;
  }
  Result result = run(TOY, {"train", "--help"});
  for (const char *flag : {"--data", "--steps", "--lr", "--min-lr", "--warmup", "--beta1", "--beta2", "--eps", "--clip",
                           "--weight-decay", "--accumulate", "--seed", "--resume", "--save-every", "--threads"})
    EXPECT_NE(result.out.find(flag), std::string::npos) << flag;
}

TEST_F(CliTest, TrainsAndSumsUp) {
  Result result = train({"--steps", "200", "--lr", "0.1"});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const char *text :
       {"step 200/200  loss ", "  lr 1.00e-02  ", " tokens/s  ", " % of peak  0:00 left\n", "validation loss  ",
        "perplexity       ", "bits per byte    ", "checkpoint       ", "sample:"})
    EXPECT_NE(result.out.find(text), std::string::npos) << text << "\n" << result.out;
  EXPECT_EQ(result.out.find('\r'), std::string::npos);
  EXPECT_EQ(result.out.substr(result.out.find("sample:\n") + 8).size(), 301u) << "300 bytes and a line break";

  std::ifstream log(out + "/log.jsonl");
  std::vector<json> lines;
  for (std::string line; std::getline(log, line);)
    lines.push_back(json::parse(line));
  ASSERT_EQ(lines.size(), 202u);
  EXPECT_EQ(lines[0]["event"], "start");
  EXPECT_EQ(lines[0]["options"]["lr"], 0.1);
  EXPECT_EQ(lines[7]["step"], 7);
  EXPECT_EQ(lines[7]["tokens"], 7 * 64);
  for (const char *field : {"loss", "lr", "grad_norm", "ms", "tokens_per_s"})
    EXPECT_TRUE(lines[7][field].is_number()) << field;
  EXPECT_GT(lines[1]["loss"], 4.0);
  EXPECT_LT(lines[200]["loss"], 1.5);
  EXPECT_EQ(lines[201]["event"], "end");
  double loss = lines[201]["valid_loss"];
  EXPECT_EQ(lines[201]["valid_tokens"], 299);
  EXPECT_DOUBLE_EQ(lines[201]["perplexity"], std::exp(loss));
  EXPECT_DOUBLE_EQ(lines[201]["bits_per_byte"], loss / std::log(2.0));

  // The checkpoint evaluates to the same loss, alone and on any number of threads.
  for (const char *threads : {"1", "3"}) {
    Result eval = run(
        TOY, {"eval", "--data", data, "--checkpoint", out + "/checkpoint.safetensors", "--json", "--threads", threads});
    ASSERT_EQ(eval.code, 0) << eval.err;
    EXPECT_EQ(json::parse(eval.out)["loss"], loss);
  }
  EXPECT_NE(result.out.find(data + " (a text, by characters): 2700 tokens to train on"), std::string::npos);
  Result all = run(TOY, {"eval", "--data", data, "--checkpoint", out + "/checkpoint.safetensors", "--part", "all"});
  EXPECT_NE(all.out.find("(2999 tokens)"), std::string::npos) << all.out << all.err;
}

TEST_F(CliTest, FixedBatchIsLearntByHeart) {
  Result result = train({"--steps", "300", "--constant-lr", "--lr", "0.1", "--weight-decay", "0", "--fixed-batch"});
  ASSERT_EQ(result.code, 0) << result.err;
  std::string log = readFile(out + "/log.jsonl");
  size_t last = log.find("\"step\":300,\"loss\":");
  ASSERT_NE(last, std::string::npos);
  EXPECT_LT(std::stod(log.substr(last + 18)), 0.8); // what a bigram cannot know remains
  EXPECT_NE(log.find("\"step\":300,\"loss\":"), std::string::npos);
  EXPECT_EQ(log.find("\"lr\":0.05"), std::string::npos) << "the rate is constant";
}

TEST_F(CliTest, TerminalGetsOneLineThatRewritesItself) {
  Result result = runOnTerminal(TOY, {"train", "--data", data, "--out", out, "--steps", "50", "--threads", "1"});
  ASSERT_EQ(result.code, 0) << result.out;
  EXPECT_NE(result.out.find("\rstep 1/50"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\rstep 50/50"), std::string::npos);
  EXPECT_EQ(result.out.find("\nstep "), std::string::npos);
}

TEST_F(CliTest, GeneratesTheSameTextForTheSameSeed) {
  ASSERT_EQ(train({"--steps", "100", "--lr", "0.1"}).code, 0);
  auto generate = [&](std::vector<std::string> extra) {
    std::vector<std::string> arguments = {
        "generate", "--checkpoint", out + "/checkpoint.safetensors", "--prompt", "the ", "--count", "50"};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    Result result = run(TOY, arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  };
  std::string text = generate({"--seed", "4"});
  EXPECT_EQ(text.size(), 55u); // prompt, 50 bytes, line break
  EXPECT_EQ(text.rfind("the ", 0), 0u);
  EXPECT_EQ(text, generate({"--seed", "4", "--threads", "3"}));
  EXPECT_NE(text, generate({"--seed", "5"}));
  EXPECT_EQ(generate({"--temperature", "0"}), generate({"--top-k", "1", "--seed", "9"}));
  EXPECT_EQ(generate({"--temperature", "0"}), generate({"--top-p", "1e-9", "--seed", "9"}));
}

TEST_F(CliTest, InfoTellsWhatTheModelIs) {
  Result text = run(TOY, {"info"});
  EXPECT_EQ(text.code, 0);
  for (const char *expected : {"parameters       16512", "table.weight", "128x128", "derived", "toy.cpp:2"})
    EXPECT_NE(text.out.find(expected), std::string::npos) << expected;
  json info = json::parse(run(TOY, {"info", "--json"}).out);
  EXPECT_EQ(info["parameters"], 16512);
  EXPECT_EQ(info["flops_per_step"], 16384);
  EXPECT_EQ(info["forward_flops"]["head"], 16384);
  EXPECT_EQ(info["forward_flops"]["attention"], 0);
  EXPECT_EQ(info["bytes"]["state"], 2 * 66048);
  EXPECT_EQ(info["parameter_table"][0]["decay"], true);
  EXPECT_EQ(info["parameter_table"][1]["decay"], false);
  EXPECT_EQ(info["entries"][0]["launches"], 4);
}

TEST_F(CliTest, BenchPrintsOneObjectALine) {
  Result result = run(TOY, {"bench", "--json", "--pairs", "3", "--seconds", "0.01", "--threads", "1"});
  ASSERT_EQ(result.code, 0) << result.err;
  std::istringstream lines(result.out);
  std::vector<std::string> entries;
  for (std::string line; std::getline(lines, line);) {
    json object = json::parse(line);
    entries.push_back(object["entry"]);
    for (const char *key : {"ms", "tokens_per_s", "gflops", "peak_gflops", "peak_fraction"})
      EXPECT_TRUE(object[key].is_number()) << key;
    EXPECT_GT(object["peak_gflops"], 0.0);
    EXPECT_EQ(object["model"], "toy");
    EXPECT_EQ(object["dtype"], "f32");
    EXPECT_EQ(object["cpu"], "x86-64");
    EXPECT_EQ(object["threads"], 1);
    EXPECT_EQ(object.size(), 10u);
  }
  EXPECT_EQ(entries, (std::vector<std::string>{"step", "loss", "logits"}));

  Result byOp = run(TOY, {"bench", "--by-op", "--entry", "step", "--pairs", "1", "--seconds", "0.01"});
  EXPECT_NE(byOp.out.find("embedding + cross_entropy"), std::string::npos) << byOp.out << byOp.err;
  EXPECT_NE(byOp.out.find("adamw"), std::string::npos) << "the update is part of a step";
}

// Reading a batch is a vanishing part of a step, whatever the order of the windows.
TEST_F(CliTest, BenchTimesTheBatches) {
  Result result = run(TOY, {"bench", "--json", "--pairs", "1", "--seconds", "0.01", "--entry", "step", "--data", data});
  ASSERT_EQ(result.code, 0) << result.err;
  std::istringstream lines(result.out);
  std::vector<json> objects;
  for (std::string line; std::getline(lines, line);)
    objects.push_back(json::parse(line));
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_EQ(objects[1]["batch"], "random");
  EXPECT_EQ(objects[2]["batch"], "epochs");
  for (size_t i : {1u, 2u})
    EXPECT_TRUE(objects[i]["ms"].is_number() && objects[i]["step_fraction"].is_number()) << objects[i];
}

// Mistakes on the command line: exit code 2 and one line that names the flag.
TEST_F(CliTest, WrongFlagsAreRefused) {
  expectRefused(run(TOY, {}), 2, "a command is required: train, eval, generate, info or bench");
  expectRefused(run(TOY, {"fly"}), 2, "fly");
  expectRefused(train({"--speed", "9"}), 2, "--speed");
  expectRefused(train({"--steps", "ten"}), 2, "--steps");
  expectRefused(train({"--steps", "99999999999999999999"}), 2,
                "--steps: '99999999999999999999' is too large or too small a number");
  expectRefused(train({"--steps", "-99999999999999999999"}), 2, "--steps: '-99999999999999999999' is too large");
  expectRefused(train({"--lr", "1e999"}), 2, "--lr: '1e999' is too large or too small a number");
  expectRefused(train({"--threads", "4294967297"}), 2, "--threads: '4294967297' is too large");
  expectRefused(train({"--steps"}), 2, "--steps");
  expectRefused(train({"--steps", ""}), 2, "--steps: '' is not a whole number");
  expectRefused(train({"--steps", "0x10"}), 2, "--steps: '0x10' is not a whole number");
  expectRefused(train({"--steps", "010", "--warmup", "11"}), 2, "longer than the run of 10 steps");
  expectRefused(train({"--weight-decay", ""}), 2, "--weight-decay: '' is not a number");
  expectRefused(run(TOY, {"train", "--data", data, "--out", ""}), 2, "--out: must not be empty");
  expectRefused(run(TOY, {"train"}), 2, "--data is required");
  expectRefused(train({"--lr", "nan"}), 2, "--lr is nan, but must lie in (0, 10]");
  expectRefused(train({"--lr", "-1"}), 2, "--lr is -1, but must lie in (0, 10]");
  expectRefused(train({"--beta1", "1"}), 2, "--beta1 is 1, but must lie in [0, 1)");
  expectRefused(train({"--clip", "nan"}), 2, "--clip is nan");
  expectRefused(train({"--steps", "10", "--warmup", "11"}), 2, "--warmup is 11 steps, longer than the run of 10 steps");
  expectRefused(train({"--windows", "some"}), 2, "--windows is 'some', but must be random or epochs");
  expectRefused(train({"--tokens", "bytes", "--tokenizer", "bytes"}), 2, "--tokens and --tokenizer exclude each other");
  expectRefused(train({"--threads", "0"}), 2, "--threads");
  expectRefused(train({"--seed", "-1"}), 2, "--seed");
  auto generate = [&](const char *flag, const char *value) {
    return run(TOY, {"generate", "--checkpoint", "none", flag, value});
  };
  expectRefused(generate("--temperature", "-0.1"), 2, "--temperature is -0.1, but must lie in [0, 100]");
  expectRefused(generate("--temperature", "nan"), 2, "--temperature is nan");
  expectRefused(generate("--top-k", "-1"), 2, "--top-k is -1");
  expectRefused(generate("--top-p", "0"), 2, "--top-p is 0, but must lie in (0, 1]");
  expectRefused(generate("--top-p", "nan"), 2, "--top-p is nan");
  expectRefused(generate("--count", "0"), 2, "--count is 0");
  expectRefused(run(TOY, {"bench", "--seconds", "nan"}), 2, "--seconds is nan");
  expectRefused(run(TOY, {"bench", "--entry", "decode"}), 1, "model 'toy' has no entry 'decode'");
}

// Mistakes in what the flags point at: exit code 1, one line, found before anything is trained.
TEST_F(CliTest, UnusableFilesAreRefused) {
  auto trainOn = [&](const std::string &path) { return run(TOY, {"train", "--data", path, "--out", out}); };
  expectRefused(trainOn(folder.file("none")), 1, "No such file or directory");
  expectRefused(trainOn(folder.write("empty", "")), 1, "is empty: have 0 tokens, need 17");
  expectRefused(trainOn(folder.write("short", "short")), 1, "have 5 tokens for training, need 17");
  std::string wide = folder.write("wide", sampleText(100) + '\x80');
  expectRefused(trainOn(wide), 1, "data file " + wide + ": byte 0x80 at offset 100 begins no UTF-8 character");
  expectRefused(run(TOY, {"train", "--tokens", "bytes", "--data", wide, "--out", out}), 1,
                "token id 128 at offset 100, but the model's vocabulary ends at 128");
  std::string file = folder.write("file", "");
  expectRefused(run(TOY, {"train", "--data", data, "--out", file}), 1, "output folder " + file);
  expectRefused(run(TOY, {"train", "--data", data, "--out", file + "/below"}), 1, "output folder " + file + "/below");
  expectRefused(run(TOY, {"train", "--data", data, "--out", "/proc"}), 1, "the output folder /proc is not writable");
  expectRefused(run(TOY, {"train", "--out", out, "--resume"}), 1, "cannot open checkpoint " + out);
  expectRefused(run(TOY, {"generate", "--checkpoint", data}), 1, "not a safetensors file");
}

// The characters of the text are the vocabulary; the checkpoint brings them along.
TEST_F(CliTest, CharactersOfTheTextAreTheVocabulary) {
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += "höre auf den Wind. ";
  std::string path = folder.write("umlauts", text), checkpoint = out + "/checkpoint.safetensors";
  ASSERT_EQ(run(TOY, {"train", "--data", path, "--out", out, "--steps", "100", "--lr", "0.1"}).code, 0);
  Result result =
      run(TOY, {"generate", "--checkpoint", checkpoint, "--prompt", "h", "--temperature", "0", "--count", "2"});
  EXPECT_EQ(result.out.substr(0, 3), "hö");
  expectRefused(run(TOY, {"generate", "--checkpoint", checkpoint, "--prompt", "höx"}), 1,
                "the prompt has the character 'x' (U+0078) at offset 3, which is not among the 13 characters that the "
                "model was trained on");
  std::string other = folder.write("other", "der Wind, der Wind");
  expectRefused(run(TOY, {"eval", "--data", other, "--part", "all", "--checkpoint", checkpoint}), 1,
                "data file " + other + " has the character ',' (U+002C) at offset 8, which is not among");
  // A byte of an umlaut is half a character, so there are fewer characters than bytes.
  Result eval = run(TOY, {"eval", "--data", path, "--part", "all", "--checkpoint", checkpoint, "--json"});
  json parsed = json::parse(eval.out);
  EXPECT_EQ(parsed["tokens"], 19 * 200 - 1);
  EXPECT_NEAR(parsed["bits_per_byte"].get<double>(),
              parsed["loss"].get<double>() / std::log(2.0) * (19 * 200 - 1) / (20 * 200 - 1), 1e-9);
}

TEST_F(CliTest, MoreCharactersThanTheModelHasIdsAreRefused) {
  std::string text;
  for (char c = ' '; c < 127; ++c)
    text += c;
  std::string path = folder.write("many", text + text);
  expectRefused(run(TOY_SMALL, {"train", "--data", path, "--out", out}), 1,
                "data file " + path + " has 95 different characters, but the model's vocabulary has room for 64");
}

// What is printed never gets into a file of the run, whatever streams the program was given.
TEST_F(CliTest, ClosedStreamsAreHeldOpen) {
  std::string command = TOY + std::string(" train --data ") + data + " --out " + out + " --steps 3 --threads 1";
  EXPECT_NE(std::system((command + " <&- >&- 2>&-").c_str()), 0);
  std::string log = readFile(out + "/log.jsonl");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 5) << log;
  EXPECT_EQ(log.find("tokens to train on"), std::string::npos) << log;
  EXPECT_NE(std::system((command + " 2>" + folder.file("said") + " >/dev/full").c_str()), 0);
  EXPECT_NE(readFile(folder.file("said")).find("error: cannot write to standard output\n"), std::string::npos);
}

TEST_F(CliTest, PathsNeedNotBeUtf8) {
  std::string odd = folder.write("t\xff", sampleText(3000));
  Result result = run(TOY, {"train", "--data", odd, "--out", out, "--steps", "2", "--threads", "1"});
  EXPECT_EQ(result.code, 0) << result.err;
  expectRefused(run(TOY, {"train", "--resume", "--out", out}), 1, "cannot open data file");
  EXPECT_EQ(run(TOY, {"train", "--resume", "--out", out, "--data", odd}).code, 0);
}

TEST_F(CliTest, RefusedDataLeavesNoFolder) {
  expectRefused(run(TOY, {"train", "--data", folder.file("none"), "--out", out}), 1, "No such file");
  EXPECT_FALSE(std::ifstream(out).good());
}

TEST_F(CliTest, CheckpointOfAnotherModelIsRefused) {
  ASSERT_EQ(train({"--steps", "1"}).code, 0);
  std::string checkpoint = out + "/checkpoint.safetensors";
  expectRefused(run(TOY_SMALL, {"generate", "--checkpoint", checkpoint}), 1,
                "checkpoint " + checkpoint +
                    ": 'table.weight' is F32 [128, 128], model 'toy_small' expects F32 [64, 64]");
  // The same shapes under another name: weights that fit and mean something else.
  std::string content = readFile(checkpoint), name = "\"model\":\"toy\"";
  ASSERT_NE(content.find(name), std::string::npos);
  folder.write("run/checkpoint.safetensors", content.replace(content.find(name), name.size(), "\"model\":\"tow\""));
  std::string message = "checkpoint " + checkpoint + ": written by model 'tow', this is model 'toy'";
  expectRefused(run(TOY, {"generate", "--checkpoint", checkpoint}), 1, message);
  expectRefused(run(TOY, {"eval", "--data", data, "--checkpoint", checkpoint}), 1, message);
  expectRefused(run(TOY, {"train", "--resume", "--out", out}), 1, message);
  EXPECT_EQ(run(TOY, {"generate", "--checkpoint", checkpoint, "--any-model"}).code, 0);
}

// A program for another CPU still says what it is, and refuses to run in one line.
TEST_F(CliTest, ProgramForAnotherCpuSaysSo) {
  expectRefused(run(TOY_ELSEWHERE, {"train", "--data", data, "--out", out}), 1,
                "model 'toy_elsewhere' was compiled for the CPU x86-64 and needs warp_drive, which this machine (");
  Result info = run(TOY_ELSEWHERE, {"info"});
  EXPECT_EQ(info.code, 0);
  EXPECT_NE(info.out.find("this machine lacks warp_drive"), std::string::npos);
}

} // namespace
} // namespace burin::test
