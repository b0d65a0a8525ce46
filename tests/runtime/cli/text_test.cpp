// The program `burin-text`: what it writes, and that faults end it with one clear line.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "support/program.h"
#include "support/random_text.h"

namespace burin::test {
namespace {

struct TextProgram : testing::Test {
  Folder folder;
  std::string text = folder.write("text", sampleText(20'000) + "<|endoftext|>" + sampleText(500));
  std::string out = folder.file("tokenizer");

  Result train(std::vector<std::string> extra = {}) {
    std::vector<std::string> arguments = {"train", "--vocab", "300",       "--special", "<|endoftext|>",
                                          "--out", out,       "--threads", "2"};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    arguments.push_back(text);
    return run(BURIN_TEXT, arguments);
  }
  // By the shell, for redirections; the exit code of the last command.
  static int shell(const std::string &line) {
    int status = std::system(("bash -c \"set -o pipefail; " + line + "\"").c_str());
    return WEXITSTATUS(status);
  }
  std::string program(const std::string &command) {
    return std::string(BURIN_TEXT) + " " + command + " --tokenizer " + out;
  }
};

TEST_F(TextProgram, TrainsAndWritesTheFiles) {
  Result result = train();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("note: no pair is left after "), std::string::npos) << result.err;
  EXPECT_NE(result.out.find("256 bytes, "), std::string::npos) << result.out;
  for (const char *name : {"tokenizer.json", "vocab.json", "merges.txt"})
    EXPECT_NE(readFile(out + "/" + name), "") << name;
}

TEST_F(TextProgram, EncodesAndDecodesAnyBytes) {
  ASSERT_EQ(train().code, 0);
  std::string bytes =
      folder.write("bytes", RandomText(1).bytes(70'000) + "<|endoftext|>" + RandomText(2).unicode(9000));
  std::string ids = folder.file("ids"), back = folder.file("back");
  EXPECT_EQ(shell(program("encode") + " < " + bytes + " > " + ids), 0);
  EXPECT_EQ(shell(program("decode") + " < " + ids + " > " + back), 0);
  EXPECT_TRUE(readFile(back) == readFile(bytes));
  EXPECT_EQ(run(BURIN_TEXT, {"encode", "--tokenizer", out, "--threads", "2", "--out", folder.file("ids2"), bytes}).code,
            0);
  EXPECT_TRUE(readFile(folder.file("ids2")) == readFile(ids));
}

TEST_F(TextProgram, ShowsTokensIdsAndTheTable) {
  Result result = run(BURIN_TEXT, {"show", "--tokenizer", "bytes", "--text", "a|\n\xC3\xA4"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out.substr(0, result.out.find("\n\n")), "a|\\||\\n\n|\\xc3|\\xa4\n97 124 10 195 164");
  EXPECT_NE(result.out.find("bytes per token  1.00\n"), std::string::npos) << result.out;
  ASSERT_EQ(train().code, 0);
  result = run(BURIN_TEXT, {"show", "--tokenizer", out, "--text", "x<|endoftext|>"});
  EXPECT_NE(result.out.find(": 1, 50.00 % of the tokens"), std::string::npos) << result.out;
}

// Beside another tokenizer they would name other ids.
TEST_F(TextProgram, FilesOfAnEarlierTokenizerGo) {
  ASSERT_EQ(train().code, 0);
  ASSERT_TRUE(std::filesystem::exists(out + "/vocab.json"));
  EXPECT_EQ(run(BURIN_TEXT, {"train", "--vocab", "270", "--pattern", "[a-z]+|[^a-z]+", "--out", out, text}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(out + "/vocab.json"));
  EXPECT_FALSE(std::filesystem::exists(out + "/merges.txt"));
}

TEST_F(TextProgram, ConvertWritesWhatItRead) {
  ASSERT_EQ(train().code, 0);
  EXPECT_EQ(run(BURIN_TEXT, {"convert", "--tokenizer", out, "--out", folder.file("copy")}).code, 0);
  for (const char *name : {"tokenizer.json", "vocab.json", "merges.txt"})
    EXPECT_EQ(readFile(out + "/" + name), readFile(folder.file("copy/") + name));
}

TEST_F(TextProgram, UsageErrorsSayWhatIsMissing) {
  Result result = run(BURIN_TEXT, {});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "error: a command is required: train, prepare, encode, decode, show or convert; --help explains each\n");
  EXPECT_EQ(run(BURIN_TEXT, {"train"}).code, 2);
  EXPECT_EQ(run(BURIN_TEXT, {"train", "--vocab", "0x10", "--out", out, text}).code, 2);
  EXPECT_EQ(run(BURIN_TEXT, {"train", "--vocab", "10", "--out", out, text}).err,
            "error: the vocabulary must have 256 to 4194304 tokens (256 bytes and 0 special tokens), not 10\n");
  EXPECT_EQ(run(BURIN_TEXT, {"encode", "--tokenizer", "bytes", "--specials", "maybe"}).code, 2);
  for (const char *command : {"train", "encode", "decode", "show", "convert"})
    EXPECT_EQ(run(BURIN_TEXT, {command, "--help"}).code, 0);
}

// A special token that makes no sense is refused by whoever is told it.
TEST_F(TextProgram, SpecialTokensAreCheckedByAllCommands) {
  ASSERT_EQ(train().code, 0);
  const std::string copy = folder.file("copy");
  const std::vector<std::vector<std::string>> commands = {{"train", "--vocab", "300", "--out", copy, text},
                                                          {"prepare", "--tokenizer", out, "--out", copy, text},
                                                          {"encode", "--tokenizer", out, text},
                                                          {"decode", "--tokenizer", out, text},
                                                          {"show", "--tokenizer", out, text},
                                                          {"convert", "--tokenizer", out, "--out", copy}};
  auto refused = [&](const std::vector<std::string> &specials, const std::string &message) {
    for (std::vector<std::string> arguments : commands) {
      for (const std::string &special : specials)
        arguments.insert(arguments.end(), {"--special", special});
      Result result = run(BURIN_TEXT, arguments);
      EXPECT_EQ(result.code, 2) << arguments[0];
      EXPECT_EQ(result.err, "error: the special token " + message + "\n") << arguments[0];
    }
  };
  refused({"<a>", "<b>", "<a>"}, "'<a>' is given twice");
  refused({"a"}, "'a' is one byte, which is a token already");
  refused({"<\xFF>"}, "'<\xEF\xBF\xBD>' is no UTF-8");
}

TEST_F(TextProgram, FilesThatCannotBeReadOrWrittenAreNamed) {
  const std::string missing = folder.file("missing");
  EXPECT_EQ(run(BURIN_TEXT, {"train", "--vocab", "300", "--out", out, missing}).err,
            "error: cannot open text " + missing + ": No such file or directory\n");
  EXPECT_EQ(run(BURIN_TEXT, {"encode", "--tokenizer", missing}).code, 1);
  EXPECT_EQ(run(BURIN_TEXT, {"encode", "--tokenizer", "bytes", missing}).code, 1);
  EXPECT_EQ(run(BURIN_TEXT, {"encode", "--tokenizer", "bytes", folder.file(".")}).err,
            "error: cannot read " + folder.file(".") + ": Is a directory\n");
  EXPECT_EQ(run(BURIN_TEXT, {"encode", "--tokenizer", "bytes", "--out", folder.file("no/ids"), text}).code, 1);
  text = folder.write("secret", "x");
  std::filesystem::permissions(text, std::filesystem::perms::none);
  EXPECT_EQ(run(BURIN_TEXT, {"encode", "--tokenizer", "bytes", text}, {.unprivileged = true}).err,
            "error: cannot open text " + text + ": Permission denied\n");
}

TEST_F(TextProgram, AFullDiskAndAClosedOutputAreNoticed) {
  ASSERT_EQ(train().code, 0);
  for (const char *command : {"encode", "show"})
    for (const char *to : {" > /dev/full", " >&-"})
      EXPECT_EQ(shell(program(command) + " < " + text + to + " 2> " + folder.file("err")), 1) << command << to;
  EXPECT_EQ(readFile(folder.file("err")), "error: cannot write to standard output\n");
  EXPECT_EQ(shell("echo 1 2 3 | " + program("decode") + " > /dev/full 2> /dev/null"), 1);
  EXPECT_EQ(shell(program("encode") + " <&- > " + folder.file("none")), 0) << "a closed input is an empty text";
  const std::string before = readFile(out + "/tokenizer.json");
  Result result = run(BURIN_TEXT, {"convert", "--tokenizer", "bytes", "--out", out});
  EXPECT_EQ(result.code, 2);
  result = run(BURIN_TEXT, {"train", "--vocab", "290", "--out", out, text}, {.fileSize = 1000});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("File too large"), std::string::npos) << result.err;
  EXPECT_EQ(readFile(out + "/tokenizer.json"), before);
}

TEST_F(TextProgram, IdsThatAreNoneAreNamed) {
  EXPECT_EQ(shell("echo 97 256 | " + std::string(BURIN_TEXT) + " decode --tokenizer bytes 2> " + folder.file("err")),
            1);
  EXPECT_EQ(readFile(folder.file("err")), "error: standard input: number 2 is '256', expected an id in [0, 256)\n");
  EXPECT_EQ(
      shell("printf '1\\0002' | " + std::string(BURIN_TEXT) + " decode --tokenizer bytes 2> " + folder.file("err")), 1);
  EXPECT_EQ(readFile(folder.file("err")), "error: standard input: number 1 is '1 2', expected an id in [0, 256)\n");
  for (const char *ids : {"-1", "1e3", "99999999999999999999", "x"})
    EXPECT_EQ(run(BURIN_TEXT, {"decode", "--tokenizer", "bytes", folder.write("ids", ids)}).code, 1) << ids;
}

} // namespace
} // namespace burin::test
