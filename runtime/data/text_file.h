// A text as a sequence of token ids, memory-mapped: only the pages that are read come into memory. One byte is one
// token, or one character is, and then the ids of all are kept besides.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace burin::runtime {

// The tokens [begin, end) of a text.
struct Part {
  uint64_t begin = 0, end = 0;
  uint64_t size() const { return end - begin; }
};

class TextFile {
public:
  // The tokens are bytes. With `vocab` every id must be below it; the first that is not is an error with its place.
  explicit TextFile(const std::string &path);
  TextFile(const std::string &path, int64_t vocab) : TextFile(path) { checkBytes(vocab); }
  TextFile(const TextFile &) = delete;
  TextFile &operator=(const TextFile &) = delete;
  ~TextFile();

  void checkBytes(int64_t vocab) const;
  // From here on the tokens are characters; one that the tokenizer lacks is an error.
  void useCharacters(const CharacterTokenizer &tokenizer);

  uint64_t size() const { return ids_.empty() ? size_ : ids_.size(); }
  int32_t token(uint64_t index) const { return ids_.empty() ? bytes_[index] : ids_[index]; }
  std::string_view bytes() const { return {reinterpret_cast<const char *>(bytes_), size_}; }
  // How many bytes the tokens of a part are.
  uint64_t bytesOf(Part part) const;
  const std::string &path() const { return path_; }
  // A cheap fingerprint: size, head and tail. Tells a resumed run that it got another text.
  uint64_t fingerprint() const;

private:
  std::string path_;
  const uint8_t *bytes_ = nullptr;
  uint64_t size_ = 0;
  std::vector<int32_t> ids_;     // of characters
  std::vector<uint8_t> idBytes_; // by id
};

struct Parts {
  Part train, valid;
};

// The last `validFraction` of the text is for validation. Training needs one window of `length` tokens and the one
// after it, validation one token and its successor; too little of either is an error that names both numbers.
Parts split(const TextFile &text, double validFraction, int64_t length);

// The tokenizer of a new run on `text`: by bytes, by characters, or, where nobody says, by bytes if the model has an id
// for each of them and else by characters. More characters than the model has ids are an error with both numbers. The
// text uses it from then on.
std::unique_ptr<Tokenizer> chooseTokenizer(TextFile &text, const std::string &kind, int64_t vocab);
// A tokenizer that is there already, from a checkpoint.
void useTokenizer(TextFile &text, const Tokenizer &tokenizer, int64_t vocab);

} // namespace burin::runtime
