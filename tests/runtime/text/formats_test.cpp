// What is written is read back, formats that mean the same are the same, and a hostile file gets one clear line.
#include "text/formats.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/expect_error.h"
#include "support/program.h"
#include "text/bpe_train.h"

namespace burin::runtime {
namespace {

using nlohmann::json;

BpeModel small(const std::string &pattern = gpt2Pattern, std::vector<std::string> specials = {"<|endoftext|>"}) {
  return learnMerges({{" the", 9}, {" then", 5}, {"an", 4}, {" \xC3\xA4h", 3}, {"\n\n", 2}, {"...", 2}},
                     {.vocab = 266 + static_cast<int64_t>(specials.size()), .specials = specials, .pattern = pattern});
}

std::string base64(std::string_view bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j)
      text += i + j <= bytes.size() ? digits[bits >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

struct Formats : testing::Test {
  test::Folder folder;
  const BpeTokenizer made{small(), "it"};
  const std::string text = "the then <|endoftext|> \xC3\xA4hem...\n\nand 'n\xFF";

  void expectSame(const std::string &path, const OpenOptions &options = {}) {
    auto tokenizer = openTokenizer(path, options);
    EXPECT_EQ(tokenizer->hash(), made.hash()) << path;
    EXPECT_EQ(tokenizer->encode(text), made.encode(text)) << path;
    EXPECT_EQ(tokenizer->endOfText(), made.endOfText()) << path;
  }
};

TEST_F(Formats, AllMeanTheSame) {
  writeTokenizer(made.model(), folder.file("all"));
  expectSame(folder.file("all"));
  expectSame(folder.file("all/tokenizer.json"));
  std::filesystem::remove(folder.file("all/tokenizer.json"));
  expectSame(folder.file("all"));
  std::string ranks;
  for (size_t id = 0; id + 1 < made.model().tokens.size(); ++id)
    ranks += base64(made.bytesOf(static_cast<int32_t>(id))) + " " + std::to_string(id) + "\n";
  expectSame(folder.write("own.tiktoken", ranks), {.pattern = "gpt2", .specials = {"<|endoftext|>"}});
  EXPECT_ERROR(openTokenizer(folder.file("own.tiktoken")),
               "own.tiktoken: a file of ranks does not say how text is cut");
  EXPECT_EQ(openTokenizer("bytes")->vocab(), 256);
}

TEST_F(Formats, SpecialTokensAndPatternsAreKept) {
  const std::vector<std::string> specials = {"<|endoftext|>", "<|two words|>", "\xE2\x9F\xA8s\xE2\x9F\xA9"};
  const BpeTokenizer gpt2(small(gpt2Pattern, specials), "it"), other(small(patternOf("cl100k"), specials), "it");
  EXPECT_EQ(writeTokenizer(gpt2.model(), folder.file("a")),
            (std::vector<std::string>{"tokenizer.json", "vocab.json", "merges.txt", "added_tokens.json"}));
  EXPECT_EQ(openTokenizer(folder.file("a"))->hash(), gpt2.hash());
  std::filesystem::remove(folder.file("a/tokenizer.json"));
  EXPECT_EQ(openTokenizer(folder.file("a"))->hash(), gpt2.hash());
  EXPECT_EQ(writeTokenizer(other.model(), folder.file("b")), std::vector<std::string>{"tokenizer.json"});
  EXPECT_EQ(openTokenizer(folder.file("b"))->hash(), other.hash());
  EXPECT_NE(other.hash(), gpt2.hash());
}

// What a vocabulary lacks gets the next id, what it has keeps its own.
TEST_F(Formats, SpecialTokensMayBeAdded) {
  writeTokenizer(made.model(), folder.file("a"));
  auto tokenizer = openTokenizer(folder.file("a"), {.pattern = {}, .specials = {"<|new|>", " the"}});
  EXPECT_EQ(tokenizer->vocab(), made.vocab() + 1);
  EXPECT_EQ(tokenizer->encode("<|new|> then").at(0), made.vocab());
  EXPECT_TRUE(tokenizer->isSpecial(tokenizer->encode("<|new|> then").at(1)));
}

// A rank file's token that no merges lead to is found as a whole.
TEST_F(Formats, UnreachableRanksAreTokensAsAWhole) {
  std::string ranks;
  for (int byte = 0; byte < 256; ++byte)
    ranks += base64(std::string(1, static_cast<char>(byte))) + " " + std::to_string(byte) + "\n";
  ranks += base64("xyz") + " 256\n";
  auto tokenizer = openTokenizer(folder.write("a.tiktoken", ranks), {.pattern = "gpt2"});
  EXPECT_EQ(tokenizer->encode("xyz"), std::vector<int32_t>{256});
  EXPECT_EQ(tokenizer->encode("xyzz").size(), 4u);
  auto back = restoredTokenizer(tokenizer->saved());
  EXPECT_EQ(back->hash(), tokenizer->hash());
  EXPECT_EQ(back->encode("xyz"), std::vector<int32_t>{256});
}

// As files of Llama 3 are built: a Split before ByteLevel, and a post-processor that must not add anything.
TEST_F(Formats, ASplitBeforeByteLevelAndATemplateOfTheTextAlone) {
  const BpeTokenizer other(small(patternOf("cl100k")), "it");
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
             begin = {{"SpecialToken", {{"id", "<|endoftext|>"}, {"type_id", 0}}}};
  auto opened = [&](json processor) {
    json file = tokenizerJson(other.model());
    file["post_processor"] = std::move(processor);
    return openTokenizer(folder.write("tokenizer.json", file.dump()));
  };
  auto around = [](json single) {
    return json{{"type", "TemplateProcessing"}, {"single", std::move(single)}, {"pair", json::array()}};
  };
  const json byteLevel = {{"type", "ByteLevel"}, {"trim_offsets", false}}, alone = around(json::array({text}));
  EXPECT_EQ(tokenizerJson(other.model())["pre_tokenizer"]["pretokenizers"][1]["use_regex"], false);
  for (const json &processor :
       {byteLevel, alone, json{{"type", "Sequence"}, {"processors", json::array({byteLevel, alone})}}}) {
    EXPECT_EQ(opened(processor)->hash(), other.hash()) << processor;
    EXPECT_EQ(opened(processor)->encode("the then 12345"), other.encode("the then 12345"));
  }
  const json marked = around({begin, text});
  for (const json &processor :
       {marked, json{{"type", "Sequence"}, {"processors", json::array({byteLevel, marked})}}, around(json::array()),
        around({text, text}), json{{"type", "Sequence"}}, json("ByteLevel"), json{{"type", 5}}})
    EXPECT_ERROR(opened(processor), "tokenizer.json: post_processor ");
  EXPECT_ERROR(opened(marked), "<|endoftext|>");
}

struct FormatErrors : Formats {
  json tokenizer = tokenizerJson(made.model());
  std::string vocab, merges;

  FormatErrors() {
    writeTokenizer(made.model(), folder.file("good"));
    vocab = test::readFile(folder.file("good/vocab.json"));
    merges = test::readFile(folder.file("good/merges.txt"));
    std::filesystem::create_directory(folder.file("pair"));
  }

  // The tokenizer.json with one place changed.
  std::string changed(const char *place, json value) {
    json copy = tokenizer;
    copy[json::json_pointer(place)] = std::move(value);
    return folder.write("tokenizer.json", copy.dump());
  }
  std::string pair(const std::string &vocabulary, const std::string &lines) {
    folder.write("pair/vocab.json", vocabulary);
    folder.write("pair/merges.txt", lines);
    return folder.file("pair");
  }
  std::string ranks(const std::string &lines) { return folder.write("gpt2.tiktoken", lines); }
};

TEST_F(FormatErrors, WhatIsNotSupportedIsNamed) {
  for (auto [place, value, expected] : std::vector<std::tuple<const char *, json, const char *>>{
           {"/model/type", "WordPiece", "the model is of the type \"WordPiece\""},
           {"/model/dropout", 0.1, "'dropout' is 0.1, which is not supported"},
           {"/model/byte_fallback", true, "'byte_fallback' is true"},
           {"/model/end_of_word_suffix", "</w>", "'end_of_word_suffix' is \"</w>\""},
           {"/normalizer", {{"type", "NFC"}}, "'normalizer' is {\"type\":\"NFC\"}, which is not supported"},
           {"/truncation", {{"max_length", 5}}, "'truncation' is"},
           {"/pre_tokenizer/add_prefix_space", true, "'add_prefix_space' is true"},
           {"/pre_tokenizer/use_regex", false, "without a Split before it splits nothing"},
           {"/pre_tokenizer", {{"type", "Metaspace"}}, "pre_tokenizer {\"type\":\"Metaspace\"} is not supported"},
           {"/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", json::array()}}, "is not byte-level"},
           {"/pre_tokenizer",
            {{"type", "Sequence"}, {"pretokenizers", {{{"type", "Split"}, {"pattern", {{"String", " "}}}}}}},
            "a Split with the pattern {\"String\":\" \"} is not supported"},
           {"/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {{{"type", "Digits"}}}}}, "\"Digits\""},
           {"/post_processor", {{"type", "TemplateProcessing"}}, "post_processor"},
           {"/decoder", {{"type", "WordPiece"}}, "decoder {\"type\":\"WordPiece\"}"},
           {"/added_tokens/0/lstrip", true, "added token '<|endoftext|>': 'lstrip' is true"}})
    EXPECT_ERROR(openTokenizer(changed(place, value)), expected);
}

TEST_F(FormatErrors, HostileTokenizerJson) {
  for (auto [place, value, expected] : std::vector<std::tuple<const char *, json, const char *>>{
           {"/model", 5, "'model' is number, expected object"},
           {"/model/vocab", json::array(), "'vocab' is array, expected object"},
           {"/model/vocab/a", -1, "the id of 'a' is -1, expected a whole number in [0, 4194304)"},
           {"/model/vocab/a", 1e300, "the id of 'a' is 1e+300"},
           {"/model/vocab/a", 4'194'304, "the id of 'a' is 4194304"},
           {"/model/vocab/a", "5", "the id of 'a' is \"5\""},
           {"/model/vocab/a", 98, "id 98 is both '"},
           {"/model/vocab/a", 4000, nullptr},
           {"/model/vocab/a b", 300, "the token 'a b' with id 300 has characters that stand for no bytes"},
           {"/model/vocab/", 300, "the token with id 300 is empty"},
           {"/model/merges/0", {"a"}, "merge 1: expected two tokens, found [\"a\"]"},
           {"/model/merges/0", {"a", "nope"}, "merge 1: the merge names 'nope', which is not in the vocabulary"},
           {"/model/merges/0", {"q", "q"}, "merge 1 makes 'qq' of 'q' and 'q', which is not in the vocabulary"},
           {"/model/merges/1", tokenizer["model"]["merges"][0], "is merge 1 once more"},
           {"/added_tokens/0/id", 7, "has id 7, but id 266 in the vocabulary"},
           {"/added_tokens/0/content", "", "an added token is empty"},
           {"/added_tokens/0/content", 5, "'content' is number, expected string"}})
    if (expected)
      EXPECT_ERROR(openTokenizer(changed(place, value)), expected);
  json lacking = tokenizer;
  lacking["model"]["vocab"].erase("!");
  EXPECT_ERROR(openTokenizer(folder.write("t.json", lacking.dump())), "there is no token for the byte 0x21 ('!')");
  const std::string whole = tokenizer.dump();
  for (size_t size = 0; size < whole.size(); size += 97)
    EXPECT_ERROR(openTokenizer(folder.write("t.json", whole.substr(0, size))), "t.json: not JSON: at line 1, column ");
  EXPECT_ERROR(openTokenizer(folder.write("t.json", "[]")), "expected an object, found array");
  EXPECT_ERROR(openTokenizer(folder.write("t.json", "{\"a\": \"\xFF\"}")), "t.json: not JSON: at line 1, column 8");
  EXPECT_ERROR(openTokenizer(folder.write("t.json", std::string(100'000, '['))), "nested too deeply");
}

TEST_F(FormatErrors, HostileVocabularyAndMerges) {
  const auto broken = [&](const std::string &lines) { return pair(vocab, lines); };
  EXPECT_ERROR(openTokenizer(broken(merges + "a\n")), "merges.txt:12: expected two tokens with a space between them");
  EXPECT_ERROR(openTokenizer(broken(merges + "a b c\n")), "merges.txt:12: expected two tokens");
  EXPECT_ERROR(openTokenizer(broken(merges + "\xFF\xFF\n")), "found '\xEF\xBF\xBD\xEF\xBF\xBD'");
  EXPECT_ERROR(openTokenizer(broken(merges + "zq z\n")), "merges.txt:12: the merge names 'zq'");
  EXPECT_ERROR(openTokenizer(pair("{}", merges)), "merges.txt:2: the merge names");
  EXPECT_ERROR(openTokenizer(pair("{\"a\": 1, \"a\": 2}", merges)), "vocab.json: 'a' is there twice");
  EXPECT_ERROR(openTokenizer(pair("{\"a\": 1, \"b\": 1}", merges)), "vocab.json: id 1 is both 'a' and 'b'");
  EXPECT_ERROR(openTokenizer(pair("5", merges)), "expected an object of tokens and ids, found number");
  folder.write("pair/added_tokens.json", "{\"<|q|>\": 3}");
  EXPECT_ERROR(openTokenizer(pair(vocab, merges)), "added_tokens.json: id 3 is both");
  EXPECT_ERROR(openTokenizer(folder.file(".")),
               "holds no tokenizer: neither tokenizer.json, nor vocab.json and merges.txt");
  EXPECT_ERROR(openTokenizer(folder.file("pair/vocab.json")), "is one of two files; name their folder");
  EXPECT_ERROR(openTokenizer(folder.file("nowhere")), "there is no tokenizer ");
}

TEST_F(FormatErrors, HostileRanks) {
  EXPECT_ERROR(openTokenizer(ranks("YQ==\n")), "gpt2.tiktoken:1: expected a token in base64, a space and a rank");
  EXPECT_ERROR(openTokenizer(ranks("YQ== 1x\n")), "expected a token in base64");
  EXPECT_ERROR(openTokenizer(ranks("YQ== 99999999999999999999\n")), "expected a token in base64");
  EXPECT_ERROR(openTokenizer(ranks("YQ== -1\n")), "expected a token in base64");
  EXPECT_ERROR(openTokenizer(ranks("Y*== 1\n")), "'Y*==' is not base64");
  EXPECT_ERROR(openTokenizer(ranks("YQ= 1\n")), "is not base64");
  EXPECT_ERROR(openTokenizer(ranks(" 1\n")), "is not base64");
  EXPECT_ERROR(openTokenizer(ranks("YQ== 1\nYQ== 2\n")), "gpt2.tiktoken:2: the token 'a' is in line 1 already");
  EXPECT_ERROR(openTokenizer(ranks("YQ== 1\nYg== 1\n")), "gpt2.tiktoken:2: rank 1 is both 'a' and 'b'");
  EXPECT_ERROR(openTokenizer(ranks("YQ== 1\n")), "there is no token for the byte 0x00");
}

} // namespace
} // namespace burin::runtime
