// Texts become shards and come back; documents, parts and shards end where they should.
#include "data/prepare.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "data/corpus.h"
#include "data/prepared.h"
#include "support/expect_error.h"
#include "support/program.h"
#include "support/token_bytes.h"

namespace burin::runtime {
namespace {

// Bytes, and "|" ends a document: as a special token does, without a trained vocabulary.
struct MarkedBytes : ByteTokenizer {
  std::optional<int32_t> endOfText() const override { return '|'; }
  uint64_t hash() const override { return 99; }
};

struct PrepareTest : testing::Test {
  test::Folder folder;
  std::string out = folder.file("out");
  MarkedBytes marked;

  PrepareResult make(std::vector<std::string> files, double valid = 0, int64_t shard = 1'000'000,
                     const Tokenizer *tokenizer = nullptr) {
    return prepare(tokenizer ? *tokenizer : marked,
                   {.files = std::move(files), .out = out, .validFraction = valid, .shardTokens = shard}, {});
  }

  std::string textOf(const std::vector<Shard> Prepared::*part) {
    Prepared prepared = readPrepared(out);
    std::string text;
    for (const TokenFile &file : openShards(out, prepared, prepared.*part)) {
      std::vector<int32_t> ids(file.size());
      file.read(0, ids, 256);
      text += marked.decode(ids);
    }
    return text;
  }
  std::string train() { return textOf(&Prepared::train); }
  std::string valid() { return textOf(&Prepared::valid); }
};

// A document that ends with the mark gets no second one, one without gets one.
TEST_F(PrepareTest, DocumentsAreJoinedByTheEndOfText) {
  PrepareResult result = make({folder.write("a", "one|two"), folder.write("b", "three|"), folder.write("c", "four")});
  EXPECT_EQ(train(), "one|two|three|four|");
  EXPECT_EQ(valid(), "");
  EXPECT_EQ(result.trainTokens, 19u);
  EXPECT_EQ(result.validTokens, 0u);
  EXPECT_EQ(result.bytes, 7u + 6 + 4);
  EXPECT_TRUE(result.texts);
  EXPECT_EQ(result.width, 2u);
}

TEST_F(PrepareTest, WithoutAnEndOfTextTheyAreJoinedAsTheyAre) {
  ByteTokenizer bytes;
  make({folder.write("a", "one"), folder.write("b", "two")}, 0, 100, &bytes);
  EXPECT_EQ(train(), "onetwo");
}

// The share for validation begins with a document, be it in the middle of a file or with the next file.
TEST_F(PrepareTest, ValidationBeginsWithADocument) {
  make({folder.write("a", "aaaa|bbbb|cccc|dddd|")}, 0.4); // asks for byte 12, within c
  EXPECT_EQ(train(), "aaaa|bbbb|cccc|");
  EXPECT_EQ(valid(), "dddd|");
  make({folder.write("a", "aaaa|bbbbbb"), folder.write("b", "cccc|dddd")}, 0.5); // byte 10, within b, which a file ends
  EXPECT_EQ(train(), "aaaa|bbbbbb|");
  EXPECT_EQ(valid(), "cccc|dddd|");
  make({folder.write("a", "aaaa"), folder.write("b", "bbbbbbbb|")}, 0.5); // byte 6, within b, which no other follows
  EXPECT_EQ(train(), "aaaa|");
  EXPECT_EQ(valid(), "bbbbbbbb|");
}

// A document is cut where one that begins near the share that was asked for is not to be found; and with ids as well.
TEST_F(PrepareTest, TheShareIsNearTheOneAskedFor) {
  const std::string most = folder.write("most", std::string(1000, 'a')), tail = folder.write("tail", "zz");
  make({most, tail}, 0.1); // not the two bytes of the last document
  EXPECT_EQ(train(), std::string(901, 'a') + '|');
  EXPECT_EQ(valid(), std::string(99, 'a') + "|zz|");
  make({most}, 0.9);
  EXPECT_EQ(train(), std::string(100, 'a') + '|');
  const std::string documents = std::string(860, 'a') + '|' + std::string(139, 'b');
  make({folder.write("documents", documents), tail}, 0.1); // within b, behind which is too little
  EXPECT_EQ(train(), std::string(860, 'a') + '|');
  EXPECT_EQ(valid(), std::string(139, 'b') + "|zz|");
  std::vector<uint16_t> ids(documents.begin(), documents.end());
  make({folder.write("ids", test::bytesOf(ids)), tail}, 0.1);
  EXPECT_EQ(train(), std::string(860, 'a') + '|');
  ids[860] = 'a';
  make({folder.write("ids", test::bytesOf(ids)), tail}, 0.1);
  EXPECT_EQ(valid().size(), 100u + 1 + 3);
}

// Where the tokenizer knows no place to cut, a line ends.
TEST_F(PrepareTest, ALongDocumentIsCutAtALine) {
  struct : MarkedBytes {
    std::optional<size_t> border(std::string_view, size_t, Specials) const override { return std::nullopt; }
  } uncut;
  make({folder.write("a", "0123456789\n0123456789\n0123")}, 0.4, 1000, &uncut);
  EXPECT_EQ(train(), "0123456789\n0123456789\n|");
}

TEST_F(PrepareTest, ShardsHaveTheirSize) {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "word" + std::to_string(i) + "|";
  make({folder.write("a", text)}, 0.1, 100);
  Prepared prepared = readPrepared(out);
  EXPECT_EQ(train() + valid(), text);
  ASSERT_EQ(prepared.train.size(), 7u);
  EXPECT_EQ(prepared.train[3].file, "train-00003.tokens");
  for (size_t i = 0; i + 1 < prepared.train.size(); ++i)
    EXPECT_EQ(prepared.train[i].count, 100u);
  make({folder.write("a", text.substr(0, 200))}, 0, 100); // fewer: the others go
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(out), {}), 2 + 1);
}

// Ids that are there already, in any format, are taken over.
TEST_F(PrepareTest, TokenFilesAreTakenOver) {
  std::vector<uint16_t> ids;
  for (char c : std::string("one|two"))
    ids.push_back(static_cast<unsigned char>(c));
  std::vector<std::string> taken;
  PrepareResult result = prepare(
      marked,
      {.files = {folder.write("a", test::bytesOf(ids)), folder.write("b", test::llmcFile(ids, 7)),
                 folder.write("c", test::npyFile("<u2", "(7,)", test::bytesOf(ids))), folder.write("d", "text")},
       .out = out,
       .validFraction = 0.1},
      {.file = [&](const std::string &, const std::string &text) { taken.push_back(text); }, .progress = {}});
  EXPECT_EQ(train() + valid(), "one|two|one|two|one|two|text|");
  EXPECT_EQ(taken, (std::vector<std::string>{"raw token ids of 16 bits (nanoGPT)", "token ids of 16 bits (llm.c)",
                                             "token ids of 16 bits (NumPy .npy)", "a text"}));
  EXPECT_FALSE(result.texts);
  // What another tokenizer made is not.
  ByteTokenizer other;
  std::string shard = out + "/train-00000.tokens";
  EXPECT_ERROR(prepare(other, {.files = {shard}, .out = folder.file("again")}, {}),
               "data file " + shard + " was made with another tokenizer");
  std::vector<uint16_t> large = {0, 300};
  EXPECT_ERROR(make({folder.write("e", test::bytesOf(large))}), "token id 300 at token 1");
}

TEST_F(PrepareTest, ATextMayLookLikeIds) {
  const std::string odd("a\0b|", 4);
  std::string path = folder.write("odd", odd);
  EXPECT_ERROR(make({path}), "token id 31842 at token 1, but the vocabulary ends at 256");
  prepare(marked, {.files = {path}, .out = out, .validFraction = 0, .texts = true}, {});
  EXPECT_EQ(train(), odd);
}

TEST_F(PrepareTest, TooLittleIsRefused) {
  EXPECT_ERROR(make({folder.write("a", "")}), "the files hold 0 tokens to train on (0 bytes");
  EXPECT_ERROR(make({folder.write("a", "one|")}, 0.01), "the files hold 1 tokens to validate on, and it takes 2");
  EXPECT_ERROR(make({folder.file("none")}), "cannot open data file " + folder.file("none"));
  EXPECT_ERROR(readPrepared(out), "data folder " + out + " has no prepared.json: `burin-text prepare --out " + out +
                                      "` makes it, and has not run or not finished");
}

// Until all is written the folder is what it was before.
TEST_F(PrepareTest, AFailedPreparationChangesNothing) {
  make({folder.write("a", "one|two|three|")});
  std::vector<uint16_t> bad(100'000, 'x');
  bad.back() = 999;
  EXPECT_ERROR(make({folder.write("b", test::bytesOf(bad))}, 0, 1000), "token id 999 at token 99999");
  EXPECT_EQ(train(), "one|two|three|");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(out), {}), 2) << "a shard and the list";
  std::filesystem::create_directory(out + "/.burin-unfinished"); // of one that was killed
  std::ofstream(out + "/.burin-unfinished/train-00000.tokens.tmp") << "half";
  make({folder.write("c", "four|")});
  EXPECT_EQ(train(), "four|");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(out), {}), 2);
}

// What is refused beforehand leaves a folder as it was, and files of others stay in any case.
TEST_F(PrepareTest, NothingOfOthersIsTouched) {
  make({folder.write("a", "one|two|three|")});
  const std::string shard = out + "/train-00000.tokens", mine = out + "/train-mine.tokens";
  std::ofstream(mine) << "mine";
  for (const char *name : {"/.hidden", "/train-", "/train-.tokens", "/valid-0000x.tokens"})
    std::ofstream(out + name) << "mine";
  EXPECT_ERROR(make({shard}), "data file " + shard + " lies in " + out + ", whose token files are replaced");
  EXPECT_EQ(train(), "one|two|three|");
  make({folder.write("c", "four|")});
  EXPECT_EQ(train(), "four|");
  EXPECT_EQ(test::readFile(mine), "mine");
  for (const char *name : {"/.hidden", "/train-", "/train-.tokens", "/valid-0000x.tokens"})
    EXPECT_EQ(test::readFile(out + name), "mine") << name;
}

// A folder named like a shard is in the way of one, or would be taken for one of an older set.
TEST_F(PrepareTest, AFolderNamedLikeAShardIsNamed) {
  make({folder.write("a", "one|two|three|")});
  const std::string inTheWay = out + "/train-00001.tokens";
  std::filesystem::create_directory(inTheWay);
  std::ofstream(inTheWay + "/mine") << "mine";
  EXPECT_ERROR(make({folder.write("c", "four|")}), inTheWay + " is a folder, where a token file was to be written");
  EXPECT_EQ(train(), "one|two|three|");
  EXPECT_EQ(test::readFile(inTheWay + "/mine"), "mine");
}

TEST_F(PrepareTest, AnotherShardInItsPlaceIsFound) {
  make({folder.write("a", "one|two|three|")});
  Prepared prepared = readPrepared(out);
  TokenFileWriter writer(out + "/train-00000.tokens", 256, marked.hash());
  writer.add(std::vector<int32_t>(14, 'x'));
  writer.commit();
  EXPECT_ERROR(openShards(out, prepared, prepared.train), "it is another one");
}

} // namespace
} // namespace burin::runtime
