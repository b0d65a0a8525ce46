// Between text and token ids.
//
//   std::unique_ptr<Tokenizer> tokenizer = openTokenizer("stories");      // a folder, a file, or "bytes"
//   std::vector<int32_t> ids = tokenizer->encode("Once upon a time");
//   std::string text = tokenizer->decode(ids);                            // the same bytes again
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace burin::runtime {

// What becomes of a text that reads like a special token.
enum class Specials {
  allow,  // it is the token
  plain,  // it is text like any other
  forbid, // it is an error
};

// Encodes a text that comes in pieces; the ids are those of the whole text. Keeps what later pieces may still change:
// an unfinished pre-token, so memory is bounded by the longest of these.
class EncodeStream {
public:
  virtual ~EncodeStream() = default;
  // Appends the ids that are settled.
  virtual void feed(std::string_view text, std::vector<int32_t> &ids) = 0;
  // The text is complete: appends the rest. Another text may follow.
  virtual void finish(std::vector<int32_t> &ids) = 0;
};

class Tokenizer {
public:
  virtual ~Tokenizer() = default;
  virtual int64_t vocab() const = 0; // ids are in [0, vocab)
  // A text that the tokenizer has no ids for is an error; `source` says in it what the text is.
  virtual std::vector<int32_t> encode(std::string_view text, std::string_view source = "the text",
                                      Specials specials = Specials::allow) const = 0;
  virtual std::unique_ptr<EncodeStream> stream(std::string source = "the text",
                                               Specials specials = Specials::allow) const = 0;
  // The first place at or after `from` where a text may be cut, whatever follows it: the ids of both parts are
  // together the ids of the whole. Nothing where none is certain.
  virtual std::optional<size_t> border(std::string_view text, size_t from,
                                       Specials specials = Specials::allow) const = 0;
  // An id that stands for no text becomes U+FFFD: a model may have more ids than its tokenizer.
  virtual std::string decode(std::span<const int32_t> ids) const = 0;
  // The bytes that an id stands for; none for an id that stands for no text.
  virtual std::string bytesOf(int32_t id) const = 0;
  virtual bool isSpecial(int32_t) const { return false; }
  // The id of <|endoftext|>, if it is a special token here.
  virtual std::optional<int32_t> endOfText() const { return std::nullopt; }
  // A token to begin with where nobody says how: a line break if there is one.
  virtual std::string start() const = 0;
  // A fingerprint of all that ids depend on, the same whatever format the tokenizer was read from.
  virtual uint64_t hash() const = 0;
  // What a checkpoint holds of it; restoredTokenizer makes the tokenizer of that.
  virtual nlohmann::json saved() const = 0;
};

// Throws Error, or nlohmann::json::exception where a part is missing or of another type.
std::unique_ptr<Tokenizer> restoredTokenizer(const nlohmann::json &saved);

// What a file may not say of itself.
struct OpenOptions {
  std::optional<std::string> pattern;  // "gpt2", "cl100k", "o200k" or a regular expression: for .tiktoken files
  std::vector<std::string> specials{}; // besides those of the file; one that is not in the vocabulary gets the next id
};

// Special tokens that somebody names: each once, in UTF-8, of two bytes or more.
void checkSpecials(const std::vector<std::string> &specials);

// A folder with tokenizer.json, or with vocab.json and merges.txt; a tokenizer.json; a .tiktoken file; the word
// "bytes".
std::unique_ptr<Tokenizer> openTokenizer(const std::string &path, const OpenOptions &options = {});

// The ids of a text, by several threads: the same as encode's.
std::vector<int32_t> encodeParallel(const Tokenizer &tokenizer, std::string_view text, int threads,
                                    std::string_view source = "the text", Specials specials = Specials::allow);

// Decodes ids that come in pieces. Holds an incomplete character back until it is complete.
class DecodeStream {
public:
  enum Malformed { keep, replace }; // bytes that are no UTF-8 come as they are, or as U+FFFD
  explicit DecodeStream(const Tokenizer &tokenizer, Malformed malformed = keep)
      : tokenizer_(tokenizer), malformed_(malformed) {}
  std::string feed(std::span<const int32_t> ids);
  // What is still held: an incomplete character.
  std::string finish();

private:
  const Tokenizer &tokenizer_;
  Malformed malformed_;
  std::string held_;
};

// The id of a byte is its value.
class ByteTokenizer : public Tokenizer {
public:
  int64_t vocab() const override { return 256; }
  std::vector<int32_t> encode(std::string_view text, std::string_view source = "the text",
                              Specials specials = Specials::allow) const override;
  std::unique_ptr<EncodeStream> stream(std::string source = "the text",
                                       Specials specials = Specials::allow) const override;
  std::optional<size_t> border(std::string_view text, size_t from, Specials specials = Specials::allow) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string bytesOf(int32_t id) const override;
  std::string start() const override { return "\n"; }
  uint64_t hash() const override;
  nlohmann::json saved() const override;
};

// The characters (Unicode, from UTF-8) of some text, in the order of their code points.
class CharacterTokenizer : public Tokenizer {
public:
  // All characters that occur in `text`.
  CharacterTokenizer(std::string_view text, std::string_view source);

  int64_t vocab() const override { return static_cast<int64_t>(characters_.size()); }
  std::vector<int32_t> encode(std::string_view text, std::string_view source = "the text",
                              Specials specials = Specials::allow) const override;
  std::unique_ptr<EncodeStream> stream(std::string source = "the text",
                                       Specials specials = Specials::allow) const override;
  std::optional<size_t> border(std::string_view text, size_t from, Specials specials = Specials::allow) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string bytesOf(int32_t id) const override;
  std::string start() const override;
  uint64_t hash() const override;
  nlohmann::json saved() const override;
  // How many bytes an id stands for.
  size_t bytes(int32_t id) const { return characters_[static_cast<size_t>(id)].size(); }

private:
  friend class CharacterStream;
  // Appends the ids of `text`, which begins at `base` of the source.
  void append(std::string_view text, std::string_view source, size_t base, std::vector<int32_t> &ids) const;

  std::vector<std::string> characters_; // by id, in UTF-8
  std::vector<char32_t> codes_;         // by id, ascending
};

} // namespace burin::runtime
