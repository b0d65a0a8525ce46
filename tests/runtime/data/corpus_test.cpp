// What `--data` names is recognised, and what does not fit the model, the tokenizer or itself is refused at once.
#include "data/corpus.h"

#include <gtest/gtest.h>

#include "data/prepare.h"
#include "data/prepared.h"
#include "support/expect_error.h"
#include "support/program.h"
#include "support/token_bytes.h"

namespace burin::runtime {
namespace {

using nlohmann::json;

struct CorpusTest : testing::Test {
  test::Folder folder;
  CorpusOptions options{.path = {}, .tokens = {}, .tokenizer = {}, .validFraction = {}, .vocab = 256, .length = 16};

  Corpus open(const std::string &path, const json &run = nullptr) {
    options.path = path;
    return openCorpus(options, run);
  }

  std::string prepared(double valid, const std::string &text = test::sampleText(2000)) {
    std::string out = folder.file("prepared");
    prepare(ByteTokenizer(),
            {.files = {folder.write("source", text)}, .out = out, .validFraction = valid, .shardTokens = 600}, {});
    return out;
  }
};

TEST_F(CorpusTest, ATextIsBytesOrCharactersOrEncoded) {
  std::string text = folder.write("text", test::sampleText(1000));
  Corpus bytes = open(text);
  EXPECT_EQ(bytes.taken, "a text, by bytes");
  EXPECT_EQ(bytes.tokenizer->vocab(), 256);
  EXPECT_EQ(bytes.parts.train.size(), 900u);
  options.vocab = 128;
  Corpus characters = open(text);
  EXPECT_LT(characters.tokenizer->vocab(), 128);
  EXPECT_EQ(characters.taken, "a text, by characters");
  EXPECT_EQ(characters.tokens->token(0), characters.tokenizer->encode("t")[0]);
  options.vocab = 256;
  options.tokenizer = "bytes";
  EXPECT_EQ(open(text).taken, "a text, by bytes");
}

// By what most of its ids would be, or by its UTF-8.
TEST_F(CorpusTest, ATextWithAZeroStaysAText) {
  std::string text = test::sampleText(1000);
  text[500] = '\0';
  EXPECT_EQ(open(folder.write("text", text)).taken, "a text, by bytes");
  options.vocab = 50257;
  EXPECT_EQ(open(options.path).taken, "a text, by bytes");
  text[501] = '\xE9'; // Latin-1: only the vocabulary tells
  EXPECT_EQ(open(folder.write("text", text)).taken, "raw token ids of 16 bits (nanoGPT)");
  options.vocab = 256;
  EXPECT_EQ(open(options.path).taken, "a text, by bytes");
}

TEST_F(CorpusTest, RawIdsAreTakenForWhatTheyAre) {
  Corpus corpus = open(folder.write("ids", test::bytesOf(test::countedUp(1000, 256))));
  EXPECT_EQ(corpus.taken, "raw token ids of 16 bits (nanoGPT)");
  EXPECT_EQ(corpus.tokenizer, nullptr);
  EXPECT_EQ(corpus.tokens->size(), 1000u);
  EXPECT_EQ(corpus.parts.valid.begin, 900u);
  options.tokens = "bytes"; // the user says that it is a text
  EXPECT_EQ(open(options.path).tokens->size(), 2000u);
}

TEST_F(CorpusTest, APreparedFolderBringsItsPartsAndItsTokenizer) {
  Corpus corpus = open(prepared(0.25));
  EXPECT_EQ(corpus.taken, "token ids of 16 bits (burin-text) in 4 files");
  EXPECT_EQ(corpus.parts.train.end, 1500u);
  EXPECT_EQ(corpus.parts.valid.end, 2000u);
  EXPECT_EQ(corpus.tokenizer->hash(), ByteTokenizer().hash());
  std::vector<int32_t> ids(2000);
  corpus.tokens->read(0, ids);
  EXPECT_EQ(corpus.tokenizer->decode(ids), test::sampleText(2000));
  EXPECT_EQ(open(prepared(0)).parts.valid.begin, 1800u) << "not cut before: --valid-fraction cuts";
}

// What a folder or a run has settled is not cut once more.
TEST_F(CorpusTest, TheShareForValidation) {
  options.validFraction = 0.2;
  EXPECT_EQ(open(prepared(0)).parts.valid.begin, 1600u);
  EXPECT_ERROR(open(prepared(0.25)),
               "--valid-fraction is 0.2, but " + options.path +
                   " was cut by `burin-text prepare`, into 1500 tokens to train on and 500 to validate");
  json run = {{"options", {{"valid_fraction", 0.2}}}, {"vocabulary", ByteTokenizer().saved()}};
  EXPECT_EQ(open(options.path, run).parts.valid.begin, 1500u) << "a checkpoint from before folders were told apart";
  options.validFraction = {};
  EXPECT_EQ(open(prepared(0), run).parts.valid.begin, 1600u) << "the run's";
  options.whole = true;
  EXPECT_EQ(open(options.path, run).parts.train.size(), 0u);
}

// The first window of every file is looked at, and with --check all.
TEST_F(CorpusTest, IdsOutsideTheVocabularyAreFound) {
  std::vector<uint16_t> ids(1000, 5);
  ids[16] = 256;
  EXPECT_ERROR(open(folder.write("ids", test::bytesOf(ids))),
               "data file " + folder.file("ids") + ": token id 256 at token 16, but the vocabulary ends at 256");
  std::swap(ids[16], ids[17]);
  std::string path = folder.write("ids", test::bytesOf(ids));
  EXPECT_EQ(open(path).tokens->size(), 1000u);
  options.check = true;
  EXPECT_ERROR(open(path), "token id 256 at token 17");
}

TEST_F(CorpusTest, TooLittleIsSaidWithBothNumbers) {
  EXPECT_ERROR(open(folder.write("ids", test::bytesOf(test::countedUp(15)))),
               "have 14 tokens for training, need 17 (the context of 16 and one more)");
  EXPECT_ERROR(open(folder.write("ids", test::npyFile("<u2", "(0,)", ""))), "hold 0 tokens");
  EXPECT_ERROR(open(prepared(0.995)), "is too short: have 10 tokens for training, need 17");
}

TEST_F(CorpusTest, DamageIsFoundAtOnce) {
  std::string path = prepared(0.25), shard = path + "/train-00001.tokens", content = test::readFile(shard);
  content[500] ^= 1;
  folder.write("prepared/train-00001.tokens", content);
  EXPECT_ERROR(open(path), "data file " + shard + " is damaged: the checksum of its 600 tokens is ");
  folder.write("prepared/train-00001.tokens", content.substr(0, 900));
  EXPECT_ERROR(open(path), "data file " + shard + ": truncated: ");
  std::filesystem::remove(shard);
  EXPECT_ERROR(open(path), "cannot open data file " + shard);
  json list = json::parse(test::readFile(path + "/prepared.json"));
  list["valid"] = {list["train"][1]};
  folder.write("prepared/prepared.json", list.dump());
  EXPECT_ERROR(open(path), "data folder " + path + ": its prepared.json: it lists train-00001.tokens twice");
  folder.write("prepared/prepared.json", "{\"format\": 3}");
  EXPECT_ERROR(open(path), "data folder " + path + ": its prepared.json is damaged (");
  std::filesystem::remove(path + "/prepared.json");
  EXPECT_ERROR(open(path), "data folder " + path + " has no prepared.json: `burin-text prepare --out " + path +
                               "` makes it, and has not run or not finished");
}

TEST_F(CorpusTest, VocabularyAndTokenizerMustFit) {
  std::string path = prepared(0.25);
  options.vocab = 255;
  EXPECT_ERROR(open(path), "the tokenizer has 256 ids, but the model's vocabulary has room for 255");
  options.vocab = 256;
  // A checkpoint of a model that read characters; the folder holds bytes.
  const json run = {{"vocabulary", CharacterTokenizer("abc", "it").saved()}};
  EXPECT_ERROR(open(path, run), "data file " + path +
                                    "/train-00000.tokens was made with another tokenizer than the model was trained "
                                    "with: its hash is ");
  const json none = {{"vocabulary", nullptr}};
  EXPECT_EQ(open(path, none).tokenizer, nullptr) << "trained on ids without a tokenizer: these are ids";
  EXPECT_ERROR(open(folder.write("text", test::sampleText(1000)), none),
               "is a text, but the model was trained on token ids, without a tokenizer");
  EXPECT_EQ(open(options.path, json::object()).tokenizer->vocab(), 256)
      << "a checkpoint from before there was a choice";
}

TEST_F(CorpusTest, OtherIdsHaveAnotherFingerprint) {
  std::string path = prepared(0.25);
  json first = open(path).fingerprint;
  EXPECT_EQ(first, open(path).fingerprint);
  std::string text = test::sampleText(2000);
  text[1000] ^= 1;
  EXPECT_NE(first, open(prepared(0.25, text)).fingerprint);
}

} // namespace
} // namespace burin::runtime
