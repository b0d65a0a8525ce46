// A text as a sequence of token ids, memory-mapped: only the pages that are read come into memory. One byte is one
// token; other encodings will read files of ids instead.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace burin::runtime {

// The tokens [begin, end) of a text.
struct Part {
  uint64_t begin = 0, end = 0;
  uint64_t size() const { return end - begin; }
};

class TextFile {
public:
  // Every id must be below `vocab`; the first that is not is an error with its place.
  TextFile(const std::string &path, int64_t vocab);
  TextFile(const TextFile &) = delete;
  TextFile &operator=(const TextFile &) = delete;
  ~TextFile();

  uint64_t size() const { return size_; }
  int32_t token(uint64_t index) const { return bytes_[index]; }
  const std::string &path() const { return path_; }
  // A cheap fingerprint: size, head and tail. Tells a resumed run that it got another text.
  uint64_t fingerprint() const;

private:
  std::string path_;
  const uint8_t *bytes_ = nullptr;
  uint64_t size_ = 0;
};

struct Parts {
  Part train, valid;
};

// The last `validFraction` of the text is for validation. Training needs one window of `length` tokens and the one
// after it, validation one token and its successor; too little of either is an error that names both numbers.
Parts split(const TextFile &text, double validFraction, int64_t length);

} // namespace burin::runtime
