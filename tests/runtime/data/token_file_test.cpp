// Ids come back from every format; what a header says falsely is refused with both numbers.
#include "data/token_file.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <numeric>

#include "support/expect_error.h"
#include "support/program.h"
#include "support/token_bytes.h"

namespace burin::runtime {
namespace {

using test::bytesOf;
using test::countedUp;
using test::llmcFile;
using test::npyFile;

std::vector<int32_t> all(const TokenFile &file, int64_t vocab) {
  std::vector<int32_t> ids(file.size());
  file.read(0, ids, vocab);
  return ids;
}

struct TokenFileTest : testing::Test {
  test::Folder folder;
  std::string path = folder.file("ids");

  void writeIds(const std::vector<int32_t> &ids, int64_t vocab) {
    TokenFileWriter writer(path, vocab, 77);
    writer.add(std::span(ids).first(ids.size() / 2));
    writer.add(std::span(ids).subspan(ids.size() / 2));
    writer.commit();
  }

  // Changes a field of the header; `sealed`: and the header's checksum with it, as an attacker would.
  template <typename T> void change(T TokenHeader::*field, T value, bool sealed = true) {
    std::string content = test::readFile(path);
    TokenHeader header;
    std::memcpy(&header, content.data(), sizeof header);
    header.*field = value;
    if (sealed)
      header.own = checksumOf({reinterpret_cast<const char *>(&header), offsetof(TokenHeader, own)});
    std::memcpy(content.data(), &header, sizeof header);
    folder.write("ids", content);
  }
};

// Two bytes up to 65536 ids, four beyond: the largest id of each comes back as it went in.
TEST_F(TokenFileTest, OurFormatComesBack) {
  for (int64_t vocab : {256, 65536, 65537, 1 << 30}) {
    std::vector<int32_t> ids = countedUp<int32_t>(3000, vocab);
    ids.push_back(static_cast<int32_t>(vocab - 1));
    writeIds(ids, vocab);
    TokenFile file(path);
    EXPECT_EQ(file.format(), DataFormat::burin);
    EXPECT_EQ(file.vocab(), vocab);
    EXPECT_EQ(file.tokenizer(), 77u);
    EXPECT_EQ(file.formatText(),
              vocab > 65536 ? "token ids of 32 bits (burin-text)" : "token ids of 16 bits (burin-text)");
    EXPECT_EQ(file.bytes().size(), 64 + ids.size() * (vocab > 65536 ? 4 : 2));
    EXPECT_EQ(all(file, vocab), ids);
    file.expectChecksum();
  }
}

// An id that would wrap is refused, not written.
TEST_F(TokenFileTest, AnIdOutsideTheVocabularyIsNotWritten) {
  EXPECT_ERROR(writeIds({1, 2, 300}, 300), "token id 300 lies outside the vocabulary of 300");
  EXPECT_ERROR(writeIds({1, -1}, 300), "token id -1 lies outside the vocabulary of 300");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(TokenFileTest, FormatsOfOthersAreRecognised) {
  const std::vector<int32_t> ids = countedUp<int32_t>(300);
  const std::vector<uint16_t> narrow = countedUp(300);
  struct Case {
    std::string content, text;
  };
  const Case cases[] = {
      {bytesOf(narrow), "raw token ids of 16 bits (nanoGPT)"},
      {llmcFile(narrow, 300), "token ids of 16 bits (llm.c)"},
      {npyFile("<u2", "(300,)", bytesOf(narrow)), "token ids of 16 bits (NumPy .npy)"},
      {npyFile("<i4", "(300,)", bytesOf(ids)), "token ids of 32 bits (NumPy .npy)"},
      {npyFile("<u4", "(300,)", bytesOf(countedUp<uint32_t>(300))), "token ids of 32 bits (NumPy .npy)"},
      {npyFile("<i8", "(300,)", bytesOf(countedUp<int64_t>(300))), "token ids of 64 bits (NumPy .npy)"},
  };
  for (const Case &each : cases) {
    TokenFile file(folder.write("ids", each.content));
    EXPECT_EQ(file.formatText(), each.text);
    EXPECT_EQ(file.vocab(), 0);
    EXPECT_EQ(all(file, 300), ids) << each.text;
    EXPECT_ERROR(all(file, 299), "data file " + path + ": token id 299 at token 299, but the vocabulary ends at 299");
  }
}

TEST_F(TokenFileTest, TextsAreTexts) {
  for (const std::string &text :
       {std::string(), std::string("a"), test::sampleText(1000), std::string("\xff\xfe\x80\x81")})
    EXPECT_EQ(recognise(text), DataFormat::text);
  std::string text = test::sampleText(1000);
  text[10] = '\0';
  EXPECT_EQ(recognise(text), DataFormat::text);
  text[70] = '\xE9'; // no UTF-8: ids, unless the vocabulary has none that large
  EXPECT_EQ(recognise(text), DataFormat::raw16);
  EXPECT_EQ(recognise(text, 50257), DataFormat::raw16);
  EXPECT_EQ(recognise(text, 1000), DataFormat::text);
  const std::string cut = std::string(65530, 'x') + '\0' + "12345" + "\xC3\xA4"; // a character at 64 KiB
  EXPECT_EQ(recognise(cut.substr(1) + 'x'), DataFormat::text);
  EXPECT_ERROR(TokenFile(folder.write("text", "plain words")), "a text, where a file of token ids is expected");
  EXPECT_ERROR(TokenFile(folder.write("none", "")), "empty: it holds 0 tokens");
}

TEST_F(TokenFileTest, RawIdsThatAreCutOffAreRefused) {
  EXPECT_ERROR(TokenFile(folder.write("ids", bytesOf(countedUp(300)).substr(1))),
               "raw token ids of 16 bits (nanoGPT), but 599 bytes, an odd number: it is truncated, or a text");
}

TEST_F(TokenFileTest, HostileHeadersAreRefused) {
  auto refused = [&](auto field, auto value, const std::string &message) {
    writeIds(countedUp<int32_t>(100), 1000);
    change(field, value);
    EXPECT_ERROR(TokenFile(path), "data file " + path + ": " + message);
  };
  refused(&TokenHeader::version, uint32_t{2}, "token file of version 2, this program reads version 1");
  refused(&TokenHeader::width, uint32_t{0}, "its ids are 0 bytes wide, expected 2 or 4");
  refused(&TokenHeader::width, uint32_t{3}, "its ids are 3 bytes wide, expected 2 or 4");
  refused(&TokenHeader::width, uint32_t{4},
          "truncated: its header tells of 100 tokens of 4 bytes, the file has 200 bytes");
  refused(&TokenHeader::count, uint64_t{101},
          "truncated: its header tells of 101 tokens of 2 bytes, the file has 200 bytes");
  refused(&TokenHeader::count, uint64_t{1} << 63, "truncated: its header tells of 9223372036854775808 tokens");
  refused(&TokenHeader::count, UINT64_MAX, "truncated: its header tells of 18446744073709551615 tokens");
  refused(&TokenHeader::count, uint64_t{99}, "2 bytes follow after the 99 tokens that its header tells of");
  refused(&TokenHeader::vocab, int64_t{65537}, "its vocabulary of 65537 does not fit ids of 2 bytes");
  refused(&TokenHeader::vocab, int64_t{0}, "its vocabulary of 0 is no number of ids");
  refused(&TokenHeader::vocab, int64_t{-1}, "its vocabulary of -1 is no number of ids");
  refused(&TokenHeader::vocab, int64_t{1} << 40, "its vocabulary of 1099511627776 is no number of ids");
  refused(&TokenHeader::reserved, uint64_t{1}, "its reserved header field is 1, expected 0");
}

// Each bit of the header counts, and each of the ids.
TEST_F(TokenFileTest, DamageIsFound) {
  writeIds(countedUp<int32_t>(100), 1000);
  const std::string content = test::readFile(path);
  for (size_t i = 12; i < 64; ++i) {
    std::string damaged = content;
    damaged[i] ^= 4;
    EXPECT_ERROR(TokenFile(folder.write("ids", damaged)), "damaged: the checksum of its header is ");
  }
  for (size_t i : {64u, 65u, 163u, 263u}) {
    std::string damaged = content;
    damaged[i] ^= 1;
    TokenFile file(folder.write("ids", damaged));
    EXPECT_ERROR(file.expectChecksum(), "is damaged: the checksum of its 100 tokens is ");
  }
  for (size_t size : {8u, 63u, 64u, 65u, 263u})
    EXPECT_ERROR(TokenFile(folder.write("ids", content.substr(0, size))), "truncated: ");
  std::string magic = content;
  magic[0] = 'b'; // no longer ours; with its zeros it looks like raw ids, and what it was taken for is said
  EXPECT_EQ(TokenFile(folder.write("ids", magic)).formatText(), "raw token ids of 16 bits (nanoGPT)");
}

TEST_F(TokenFileTest, ForeignHeadersAreCheckedToo) {
  const std::vector<uint16_t> ids = countedUp(100);
  auto refused = [&](const std::string &content, const std::string &message) {
    EXPECT_ERROR(TokenFile(folder.write("ids", content)), "data file " + path + ": " + message);
  };
  refused(llmcFile(ids, 101), "truncated: its header tells of 101 tokens of 2 bytes, the file has 200 bytes");
  refused(llmcFile(ids, 99), "2 bytes follow after the 99 tokens");
  refused(llmcFile(ids, -1), "its header tells of -1 tokens");
  refused(llmcFile({}, 0), "token ids of 16 bits (llm.c) that hold 0 tokens");
  refused(llmcFile(ids, 100, 2), "llm.c shard of version 2, this program reads version 1");
  refused(llmcFile(ids, 100).substr(0, 500), "truncated: 500 bytes, shorter than the header of 1024");
  const std::string data = bytesOf(ids);
  refused(npyFile("<u2", "(101,)", data), "truncated: its header tells of 101 tokens");
  refused(npyFile("<u2", "(99999999999999999999999,)", data), "an .npy array of shape (99999999999999999999999,)");
  refused(npyFile("<u2", "(10, 10)", data), "an .npy array of shape (10, 10), expected one dimension");
  refused(npyFile("<u2", "()", data), "an .npy array of shape (), expected one dimension");
  refused(npyFile("<u2", "(0,)", ""), "token ids of 16 bits (NumPy .npy) that hold 0 tokens");
  refused(npyFile("<f4", "(50,)", data), "an .npy array of '<f4', expected whole numbers");
  refused(npyFile(">u2", "(100,)", data), "an .npy array of '>u2', expected whole numbers");
  refused(std::string("\x93NUMPY\x01\x00\xff\xff{}", 12), "truncated: its header would be 65535 bytes");
  refused(std::string("\x93NUMPY\x01\x00\x02\x00{}", 12), "its .npy header has no 'descr'");
  refused(std::string("\x93NUMPY\x09\x00\x02\x00{}", 12), ".npy file of version 9");
  refused("\x93NUMPY", "truncated: 6 bytes");
}

TEST_F(TokenFileTest, NegativeIdsAreNamed) {
  TokenFile file(folder.write("ids", npyFile("<i4", "(3,)", bytesOf<int32_t>({1, -5, 2}))));
  EXPECT_ERROR(all(file, 100), "token id -5 at token 1, but the vocabulary ends at 100");
}

TEST_F(TokenFileTest, WindowsReachAcrossFiles) {
  std::vector<TokenFile> files;
  int32_t next = 0;
  for (size_t size : {3u, 1u, 5u}) {
    std::vector<int32_t> ids(size);
    std::iota(ids.begin(), ids.end(), next);
    next += static_cast<int32_t>(size);
    writeIds(ids, 1000);
    std::filesystem::rename(path, path + std::to_string(next));
    files.emplace_back(path + std::to_string(next));
  }
  TokenFiles tokens("here", std::move(files), 1000);
  EXPECT_EQ(tokens.size(), 9u);
  for (uint64_t first = 0; first < 9; ++first)
    for (uint64_t count = 0; first + count <= 9; ++count) {
      std::vector<int32_t> ids(count), expected(count);
      tokens.read(first, ids);
      std::iota(expected.begin(), expected.end(), static_cast<int32_t>(first));
      EXPECT_EQ(ids, expected);
    }
}

TEST_F(TokenFileTest, ALargerVocabularyThanTheModelsIsRefused) {
  writeIds({1, 2, 3}, 1000);
  std::vector<TokenFile> files;
  files.emplace_back(path);
  EXPECT_ERROR(TokenFiles("here", std::move(files), 999),
               "data file " + path + " was made with a vocabulary of 1000, but the model's has 999");
}

TEST_F(TokenFileTest, CheckAllFindsAnIdFarBehind) {
  std::vector<uint16_t> ids(200'000, 7);
  ids[199'999] = 500;
  std::vector<TokenFile> files;
  files.emplace_back(folder.write("ids", bytesOf(ids)));
  TokenFiles tokens("here", std::move(files), 500);
  EXPECT_ERROR(tokens.checkAll(), "token id 500 at token 199999");
}

// Places beyond 2^32 bytes and ids, in a file that takes no room on the disk.
TEST_F(TokenFileTest, OffsetsHave64Bits) {
  constexpr uint64_t count = (uint64_t{1} << 32) + 1000;
  {
    std::vector<char> header(1024);
    int file = open(path.c_str(), O_WRONLY | O_CREAT, 0666);
    ASSERT_GE(file, 0);
    bool sparse = ftruncate(file, static_cast<off_t>(2 * count)) == 0;
    const std::vector<uint16_t> last = {11, 12, 13};
    sparse = sparse && pwrite(file, last.data(), 6, static_cast<off_t>(2 * count - 6)) == 6;
    close(file);
    if (!sparse)
      GTEST_SKIP() << "the file system has no room for a sparse file of 8 GiB";
  }
  std::vector<TokenFile> files;
  files.emplace_back(path);
  TokenFiles tokens("here", std::move(files), 50257);
  EXPECT_EQ(tokens.size(), count);
  std::vector<int32_t> ids(4);
  tokens.read(count - 4, ids);
  EXPECT_EQ(ids, (std::vector<int32_t>{0, 11, 12, 13}));
}

} // namespace
} // namespace burin::runtime
