// Bytes in, bytes out: decode(encode(text)) is the text, whatever it holds; with characters, whatever UTF-8 it holds.
#include "text/tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "error.h"
#include "hash.h"
#include "text/bpe.h"
#include "text/formats.h"
#include "text/utf8.h"

namespace burin::runtime {
namespace {

using nlohmann::json;

constexpr std::string_view noText = "\xEF\xBF\xBD"; // U+FFFD

// The character that begins at `offset`. Bytes that are no UTF-8 are an error; `base` is where the text begins.
Character demandCharacter(std::string_view text, size_t offset, std::string_view source, size_t base = 0) {
  Character character = characterAt(text, offset);
  if (character.bytes == 0)
    fail("{}: byte {:#04x} at offset {} begins no UTF-8 character; --tokens bytes takes any bytes", source,
         static_cast<unsigned char>(text[offset]), base + offset);
  return character;
}

class ByteStream : public EncodeStream {
public:
  void feed(std::string_view text, std::vector<int32_t> &ids) override {
    for (char c : text)
      ids.push_back(static_cast<unsigned char>(c));
  }
  void finish(std::vector<int32_t> &) override {}
};

} // namespace

std::unique_ptr<Tokenizer> restoredTokenizer(const json &saved) {
  const std::string kind = saved.at("kind").get<std::string>();
  if (kind == "bytes")
    return std::make_unique<ByteTokenizer>();
  if (kind == "characters")
    return std::make_unique<CharacterTokenizer>(saved.at("characters").get<std::string>(), "the stored vocabulary");
  if (kind == "bpe")
    return std::make_unique<BpeTokenizer>(modelOf(saved.at("tokenizer"), "the stored tokenizer"),
                                          "the stored tokenizer");
  fail("the stored tokenizer is of the kind '{}', which this version does not know", kind);
}

std::vector<int32_t> encodeParallel(const Tokenizer &tokenizer, std::string_view text, int threads,
                                    std::string_view source, Specials specials) {
  // Small enough that all threads have work until the end, large enough that a block's own costs do not show.
  constexpr size_t block = 256 << 10;
  std::vector<size_t> cuts = {0};
  while (threads > 1) {
    std::optional<size_t> cut =
        text.size() - cuts.back() > block ? tokenizer.border(text, cuts.back() + block, specials) : std::nullopt;
    if (!cut)
      break;
    cuts.push_back(*cut);
  }
  cuts.push_back(text.size());
  const auto count = static_cast<int64_t>(cuts.size()) - 1;
  if (count == 1)
    return tokenizer.encode(text, source, specials);

  std::vector<std::vector<int32_t>> parts(static_cast<size_t>(count));
  bool failed = false;
#pragma omp parallel num_threads(threads) reduction(|| : failed)
  {
    // A stream for all texts of a thread: what it remembers of one serves the next.
    const std::unique_ptr<EncodeStream> stream = tokenizer.stream(std::string(source), specials);
#pragma omp for schedule(dynamic)
    for (int64_t i = 0; i < count; ++i) {
      auto at = static_cast<size_t>(i);
      try {
        if (!failed) {
          stream->feed(text.substr(cuts[at], cuts[at + 1] - cuts[at]), parts[at]);
          stream->finish(parts[at]);
        }
      } catch (const Error &) {
        failed = true;
      }
    }
  }
  if (failed) // said once more by one thread: the first error, and its place in the whole text
    return tokenizer.encode(text, source, specials);

  size_t total = 0;
  for (const std::vector<int32_t> &part : parts)
    total += part.size();
  std::vector<int32_t> ids;
  ids.reserve(total);
  for (const std::vector<int32_t> &part : parts)
    ids.insert(ids.end(), part.begin(), part.end());
  return ids;
}

std::string DecodeStream::feed(std::span<const int32_t> ids) {
  held_ += tokenizer_.decode(ids);
  size_t settled = held_.size() - incompleteTail(held_);
  std::string text = malformed_ == replace ? wellFormed({held_.data(), settled}) : held_.substr(0, settled);
  held_.erase(0, settled);
  return text;
}

std::string DecodeStream::finish() {
  std::string text = malformed_ == replace ? wellFormed(held_) : held_;
  held_.clear();
  return text;
}

std::vector<int32_t> ByteTokenizer::encode(std::string_view text, std::string_view, Specials) const {
  std::vector<int32_t> ids;
  ids.reserve(text.size());
  for (char c : text)
    ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

std::unique_ptr<EncodeStream> ByteTokenizer::stream(std::string, Specials) const {
  return std::make_unique<ByteStream>();
}

std::optional<size_t> ByteTokenizer::border(std::string_view text, size_t from, Specials) const {
  return from <= text.size() ? std::optional(from) : std::nullopt;
}

std::string ByteTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  text.reserve(ids.size());
  for (int32_t id : ids) {
    if (id >= 0 && id < vocab())
      text += static_cast<char>(id);
    else
      text += noText;
  }
  return text;
}

std::string ByteTokenizer::bytesOf(int32_t id) const {
  return id >= 0 && id < vocab() ? std::string(1, static_cast<char>(id)) : std::string();
}

uint64_t ByteTokenizer::hash() const { return fnv1a("bytes"); }

json ByteTokenizer::saved() const { return {{"kind", "bytes"}}; }

CharacterTokenizer::CharacterTokenizer(std::string_view text, std::string_view source) {
  std::vector<std::pair<char32_t, std::string>> found;
  std::vector<bool> seen(0x110000);
  for (size_t offset = 0; offset < text.size();) {
    Character character = demandCharacter(text, offset, source);
    if (!seen[character.code])
      found.emplace_back(character.code, text.substr(offset, character.bytes));
    seen[character.code] = true;
    offset += character.bytes;
  }
  std::sort(found.begin(), found.end());
  for (auto &[code, bytes] : found) {
    codes_.push_back(code);
    characters_.push_back(std::move(bytes));
  }
}

void CharacterTokenizer::append(std::string_view text, std::string_view source, size_t base,
                                std::vector<int32_t> &ids) const {
  for (size_t offset = 0; offset < text.size();) {
    Character character = demandCharacter(text, offset, source, base);
    auto at = std::lower_bound(codes_.begin(), codes_.end(), character.code);
    if (at == codes_.end() || *at != character.code)
      fail("{} has the character '{}' (U+{:04X}) at offset {}, which is not among the {} characters that the model was "
           "trained on",
           source, text.substr(offset, character.bytes), static_cast<uint32_t>(character.code), base + offset,
           codes_.size());
    ids.push_back(static_cast<int32_t>(at - codes_.begin()));
    offset += character.bytes;
  }
}

std::vector<int32_t> CharacterTokenizer::encode(std::string_view text, std::string_view source, Specials) const {
  std::vector<int32_t> ids;
  ids.reserve(text.size());
  append(text, source, 0, ids);
  return ids;
}

// Holds the beginning of a character.
class CharacterStream : public EncodeStream {
public:
  CharacterStream(const CharacterTokenizer &tokenizer, std::string source)
      : tokenizer_(tokenizer), source_(std::move(source)) {}
  void feed(std::string_view text, std::vector<int32_t> &ids) override {
    held_ += text;
    take(held_.size() - incompleteTail(held_), ids);
  }
  void finish(std::vector<int32_t> &ids) override {
    take(held_.size(), ids);
    base_ = 0;
  }

private:
  void take(size_t settled, std::vector<int32_t> &ids) {
    tokenizer_.append({held_.data(), settled}, source_, base_, ids);
    base_ += settled;
    held_.erase(0, settled);
  }

  const CharacterTokenizer &tokenizer_;
  std::string source_, held_;
  size_t base_ = 0; // of the held bytes in the text
};

std::unique_ptr<EncodeStream> CharacterTokenizer::stream(std::string source, Specials) const {
  return std::make_unique<CharacterStream>(*this, std::move(source));
}

std::optional<size_t> CharacterTokenizer::border(std::string_view text, size_t from, Specials) const {
  while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80)
    ++from;
  return from < text.size() ? std::optional(from) : std::nullopt;
}

std::string CharacterTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (int32_t id : ids)
    text += id >= 0 && id < vocab() ? std::string_view(characters_[static_cast<size_t>(id)]) : noText;
  return text;
}

std::string CharacterTokenizer::bytesOf(int32_t id) const {
  return id >= 0 && id < vocab() ? characters_[static_cast<size_t>(id)] : std::string();
}

std::string CharacterTokenizer::start() const {
  if (characters_.empty() || std::binary_search(codes_.begin(), codes_.end(), U'\n'))
    return "\n";
  return characters_.front();
}

uint64_t CharacterTokenizer::hash() const {
  uint64_t hash = fnv1a("characters");
  for (const std::string &character : characters_)
    hash = fnv1a(character, hash);
  return hash;
}

json CharacterTokenizer::saved() const {
  std::string all;
  for (const std::string &character : characters_)
    all += character;
  return {{"kind", "characters"}, {"characters", all}};
}

} // namespace burin::runtime
