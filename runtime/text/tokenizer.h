// Between text and token ids.
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace burin::runtime {

class Tokenizer {
public:
  virtual ~Tokenizer() = default;
  virtual int64_t vocab() const = 0; // ids are in [0, vocab)
  // A text that the tokenizer has no ids for is an error; `source` says in it what the text is.
  virtual std::vector<int32_t> encode(std::string_view text, std::string_view source = "the text") const = 0;
  // An id that stands for no text becomes U+FFFD: a model may have more ids than its tokenizer.
  virtual std::string decode(std::span<const int32_t> ids) const = 0;
  // A token to begin with where nobody says how: a line break if there is one.
  virtual std::string start() const = 0;
  // What a checkpoint holds of it; restoredTokenizer makes the tokenizer of that.
  virtual nlohmann::json saved() const = 0;
};

// Throws nlohmann::json::exception where a part is missing or of another type.
std::unique_ptr<Tokenizer> restoredTokenizer(const nlohmann::json &saved);

// The id of a byte is its value.
class ByteTokenizer : public Tokenizer {
public:
  int64_t vocab() const override { return 256; }
  std::vector<int32_t> encode(std::string_view text, std::string_view source = "the text") const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string start() const override { return "\n"; }
  nlohmann::json saved() const override;
};

// The characters (Unicode, from UTF-8) of some text, in the order of their code points.
class CharacterTokenizer : public Tokenizer {
public:
  // All characters that occur in `text`.
  CharacterTokenizer(std::string_view text, std::string_view source);

  int64_t vocab() const override { return static_cast<int64_t>(characters_.size()); }
  std::vector<int32_t> encode(std::string_view text, std::string_view source = "the text") const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string start() const override;
  nlohmann::json saved() const override;
  // The bytes that an id stands for.
  size_t bytes(int32_t id) const { return characters_[static_cast<size_t>(id)].size(); }

private:
  std::vector<std::string> characters_; // by id, in UTF-8
  std::vector<char32_t> codes_;         // by id, ascending
};

} // namespace burin::runtime
