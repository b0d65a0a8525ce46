// A sequence of token ids, which need not fit the memory: a text, or files of ids one after the other.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace burin::runtime {

// The tokens [begin, end) of a sequence.
struct Part {
  uint64_t begin = 0, end = 0;
  uint64_t size() const { return end - begin; }
};

class Tokens {
public:
  virtual ~Tokens() = default;
  virtual uint64_t size() const = 0;
  // Copies the ids from `first` on. What cannot be read, or is no id of the vocabulary, is an error with its place. May
  // be called by several threads at once.
  virtual void read(uint64_t first, std::span<int32_t> ids) const = 0;
  // As the user named it.
  virtual const std::string &path() const = 0;

  int32_t token(uint64_t index) const {
    int32_t id = 0;
    read(index, {&id, 1});
    return id;
  }
};

struct Parts {
  Part train, valid;
};

// The last `validFraction` of the tokens is for validation. Training needs one window of `length` tokens and the one
// after it, validation one token and its successor; too little of either is an error that names both numbers.
Parts split(const Tokens &tokens, double validFraction, int64_t length);
// Whether two parts that are cut already are long enough.
void expectLongEnough(const Tokens &tokens, const Parts &parts, int64_t length);

} // namespace burin::runtime
