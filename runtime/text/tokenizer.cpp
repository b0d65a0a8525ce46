// Bytes in, bytes out: decode(encode(text)) is the text, whatever it holds; with characters, whatever UTF-8 it holds.
#include "text/tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "error.h"

namespace burin::runtime {
namespace {

using nlohmann::json;

struct Character {
  char32_t code = 0;
  size_t bytes = 0;
};

// The character that begins at `offset`. Bytes that are no UTF-8 are an error.
Character characterAt(std::string_view text, size_t offset, std::string_view source) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned first = byte(offset);
  if (first < 0x80)
    return {first, 1};
  size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  char32_t code = first & (0xFFu >> (bytes + 1));
  bool valid = first >= 0xC2 && first < 0xF5 && offset + bytes <= text.size();
  for (size_t i = 1; valid && i < bytes; ++i) {
    valid = (byte(offset + i) & 0xC0) == 0x80;
    code = code << 6 | (byte(offset + i) & 0x3Fu);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; // what so many bytes must be needed for
  if (!valid || code < least[bytes] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
    fail("{}: byte {:#04x} at offset {} begins no UTF-8 character; --tokens bytes takes any bytes", source, first,
         offset);
  return {code, bytes};
}

} // namespace

std::unique_ptr<Tokenizer> restoredTokenizer(const json &saved) {
  if (saved.at("kind").get<std::string>() == "characters")
    return std::make_unique<CharacterTokenizer>(saved.at("characters").get<std::string>(), "the stored vocabulary");
  return std::make_unique<ByteTokenizer>();
}

std::vector<int32_t> ByteTokenizer::encode(std::string_view text, std::string_view) const {
  std::vector<int32_t> ids;
  ids.reserve(text.size());
  for (char c : text)
    ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

std::string ByteTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (int32_t id : ids) {
    if (id >= 0 && id < vocab())
      text += static_cast<char>(id);
    else
      text += "\xEF\xBF\xBD";
  }
  return text;
}

json ByteTokenizer::saved() const { return {{"kind", "bytes"}}; }

CharacterTokenizer::CharacterTokenizer(std::string_view text, std::string_view source) {
  std::vector<std::pair<char32_t, std::string>> found;
  std::vector<bool> seen(0x110000);
  for (size_t offset = 0; offset < text.size();) {
    Character character = characterAt(text, offset, source);
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

std::vector<int32_t> CharacterTokenizer::encode(std::string_view text, std::string_view source) const {
  std::vector<int32_t> ids;
  ids.reserve(text.size());
  for (size_t offset = 0; offset < text.size();) {
    Character character = characterAt(text, offset, source);
    auto at = std::lower_bound(codes_.begin(), codes_.end(), character.code);
    if (at == codes_.end() || *at != character.code)
      fail("{} has the character '{}' (U+{:04X}) at offset {}, which is not among the {} characters that the model was "
           "trained on",
           source, text.substr(offset, character.bytes), static_cast<uint32_t>(character.code), offset, codes_.size());
    ids.push_back(static_cast<int32_t>(at - codes_.begin()));
    offset += character.bytes;
  }
  return ids;
}

std::string CharacterTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (int32_t id : ids)
    text += id >= 0 && id < vocab() ? characters_[static_cast<size_t>(id)] : "\xEF\xBF\xBD";
  return text;
}

std::string CharacterTokenizer::start() const {
  if (characters_.empty() || std::binary_search(codes_.begin(), codes_.end(), U'\n'))
    return "\n";
  return characters_.front();
}

json CharacterTokenizer::saved() const {
  std::string all;
  for (const std::string &character : characters_)
    all += character;
  return {{"kind", "characters"}, {"characters", all}};
}

} // namespace burin::runtime
