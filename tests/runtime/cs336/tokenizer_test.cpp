// The tokenizer and BPE training cases of a public course's test pack, which is read where it lies.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "cs336/pack.h"
#include "error.h"
#include "text/bpe.h"
#include "text/bpe_train.h"
#include "text/formats.h"
#include "text/utf8.h"

namespace burin::runtime {
namespace {

using nlohmann::json;

struct Case {
  std::filesystem::path folder;
  json description;
  std::string path(const json &file) const { return (folder / file["file"].get<std::string>()).string(); }
  std::string input(const char *name) const { return path(description["inputs"][name]); }

  // The integers of a .npy file, of two or eight bytes each.
  std::vector<int32_t> ids(const char *name) const {
    const json &file = description["expected"][name];
    std::string content = test::readFile(path(file));
    uint16_t header = 0;
    std::memcpy(&header, content.data() + 8, sizeof header);
    const size_t width = file["dtype"] == "u16" ? 2 : 8;
    std::vector<int32_t> values;
    for (size_t at = 10 + header; at < content.size(); at += width) {
      uint64_t value = 0;
      std::memcpy(&value, content.data() + at, width);
      values.push_back(static_cast<int32_t>(value));
    }
    return values;
  }

  std::unique_ptr<BpeTokenizer> tokenizer(const std::vector<std::string> &specials) const {
    // GPT-2's vocabulary has <|endoftext|>, which is a special token there; a case that declares none wants plain
    // text.
    return std::make_unique<BpeTokenizer>(readGpt2(input("vocab"), input("merges"), specials), "the pack");
  }
};

struct Cs336Tokenizer : test::PackTest<Case> {
  static Specials policy(const json &specials) { return specials.empty() ? Specials::plain : Specials::allow; }
};

std::string hex(std::string_view bytes) {
  std::string text;
  for (unsigned char byte : bytes)
    text += fmt::format("{:02x}", byte);
  return text;
}

TEST_F(Cs336Tokenizer, Strings) {
  find("tokenizer");
  for (const Case &each : cases)
    for (const json &entry : each.description["entries"]) {
      auto tokenizer = each.tokenizer(entry["special_tokens"]);
      const std::string text = entry["text"];
      auto ids = tokenizer->encode(text, "it", policy(entry["special_tokens"]));
      EXPECT_EQ(ids, entry["ids"].get<std::vector<int32_t>>()) << entry["name"];
      EXPECT_EQ(tokenizer->decode(ids), text);
      std::vector<std::string> tokens;
      for (int32_t id : ids)
        tokens.push_back(hex(tokenizer->bytesOf(id)));
      EXPECT_EQ(tokens, entry["tokens_hex"].get<std::vector<std::string>>()) << entry["name"];
    }
}

TEST_F(Cs336Tokenizer, Files) {
  find("tokenizer_file");
  for (const Case &each : cases) {
    const json specials = each.description["params"]["special_tokens"];
    auto tokenizer = each.tokenizer(specials);
    const std::string text = test::readFile(each.input("text"));
    auto ids = tokenizer->encode(text, "it", policy(specials));
    EXPECT_EQ(ids, each.ids("ids")) << each.folder;
    EXPECT_EQ(tokenizer->decode(ids), text);
    if (each.description["expected"].contains("ids_without_special")) {
      EXPECT_EQ(tokenizer->encode(text, "it", Specials::plain), each.ids("ids_without_special"));
    }
  }
}

long residentBytes() {
  std::string status = test::readFile("/proc/self/status");
  return 1024 * std::atol(status.c_str() + status.find("VmRSS:") + 6);
}

// Line by line, as the course's encode_iterable gets it, in no more memory than the case allows.
TEST_F(Cs336Tokenizer, Stream) {
  find("tokenizer_stream");
  for (const Case &each : cases) {
    auto tokenizer = each.tokenizer(each.description["params"]["special_tokens"]);
    const std::string text = test::readFile(each.input("text"));
    const std::vector<int32_t> expected = each.ids("ids");
    tokenizer->encode("warm the tables \xC3\xA4");
    std::vector<int32_t> ids;
    size_t seen = 0;
    ids.reserve(4096);
    const long before = residentBytes();
    long most = 0;
    auto check = [&] {
      ASSERT_LE(seen + ids.size(), expected.size());
      ASSERT_TRUE(std::equal(ids.begin(), ids.end(), expected.begin() + static_cast<std::ptrdiff_t>(seen)));
      seen += ids.size();
      ids.clear();
    };
    auto stream = tokenizer->stream();
    size_t lines = 0;
    for (size_t at = 0; at < text.size();) {
      size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
      stream->feed(std::string_view(text).substr(at, end - at), ids);
      at = end;
      check();
      if (++lines % 1000 == 0)
        most = std::max(most, residentBytes() - before);
    }
    stream->finish(ids);
    check();
    EXPECT_EQ(seen, expected.size());
#ifndef __SANITIZE_ADDRESS__ // which keeps freed memory
    EXPECT_LE(most, each.description["params"]["memory_limit_bytes"].get<long>());
#endif
    EXPECT_EQ(tokenizer->encode(text), expected);
    EXPECT_EQ(encodeParallel(*tokenizer, text, 3), expected);
    EXPECT_EQ(tokenizer->decode(expected), text);
  }
}

TEST_F(Cs336Tokenizer, InvalidUtf8) {
  find("tokenizer_decode");
  for (const Case &each : cases) {
    // The case names no merges; decoding needs none.
    const std::string merges = (std::filesystem::path(each.input("vocab")).parent_path() / "gpt2_merges.txt").string();
    BpeTokenizer tokenizer(readGpt2(each.input("vocab"), merges), "the pack");
    for (const json &entry : each.description["entries"]) {
      auto ids = entry["ids"].get<std::vector<int32_t>>();
      EXPECT_EQ(hex(tokenizer.decode(ids)), entry["bytes_hex"]);
      EXPECT_EQ(wellFormed(tokenizer.decode(ids)), entry["text"]);
      DecodeStream stream(tokenizer, DecodeStream::replace);
      std::string text;
      for (int32_t id : ids)
        text += stream.feed({&id, 1});
      EXPECT_EQ(text + stream.finish(), entry["text"]);
    }
  }
}

TEST_F(Cs336Tokenizer, BpeTraining) {
  find("bpe_train");
  for (const Case &each : cases) {
    const json &params = each.description["params"];
    TrainBpe options{.vocab = params["vocab_size"], .specials = params["special_tokens"]};
    auto begin = std::chrono::steady_clock::now();
    const BpeModel model = trainBpe({each.input("text")}, options);
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (params.contains("time_limit_seconds")) {
      EXPECT_LT(seconds.count(), params["time_limit_seconds"].get<double>());
    }

    std::string merges;
    for (auto [left, right] : model.merges)
      merges += printable(model.tokens[static_cast<size_t>(left)]) + ' ' +
                printable(model.tokens[static_cast<size_t>(right)]) + '\n';
    std::string expected = test::readFile(each.path(each.description["expected"]["merges"]));
    if (!expected.ends_with('\n'))
      expected += '\n';
    EXPECT_EQ(merges, expected) << each.folder;

    // The vocabulary as sets: the pack leaves the order of ids open.
    std::set<int64_t> ids, expectedIds;
    std::set<std::string> tokens, expectedTokens;
    for (size_t id = 0; id < model.tokens.size(); ++id) {
      ids.insert(static_cast<int64_t>(id));
      tokens.insert(printable(model.tokens[id]));
    }
    const json vocab = json::parse(test::readFile(each.path(each.description["expected"]["vocab"])));
    for (const auto &[token, id] : vocab.items()) {
      expectedIds.insert(id.get<int64_t>());
      expectedTokens.insert(token);
    }
    EXPECT_EQ(ids, expectedIds) << each.folder;
    EXPECT_EQ(tokens, expectedTokens) << each.folder;
  }
}

} // namespace
} // namespace burin::runtime
