// Texts that are likely to find mistakes: few different characters, white space of all kinds, what patterns treat
// specially, bytes that are no UTF-8.
#pragma once
#include <random>
#include <string>

#include "text/utf8.h"

namespace burin::test {

class RandomText {
public:
  explicit RandomText(uint32_t seed) : random_(seed) {}
  size_t below(size_t limit) { return random_() % limit; }

  // Any bytes.
  std::string bytes(size_t size) {
    std::string text;
    for (size_t i = 0; i < size; ++i)
      text += static_cast<char>(below(256));
    return text;
  }

  // Characters of all classes, often the same ones.
  std::string unicode(size_t characters) {
    static constexpr const char *common[] = {"a",
                                             "b",
                                             "Z",
                                             " ",
                                             "  ",
                                             "\n",
                                             "\r\n",
                                             "\t",
                                             "'s",
                                             "'",
                                             "'ll",
                                             "'LL",
                                             "7",
                                             "42",
                                             "!",
                                             "?!",
                                             "\xC3\xA4",
                                             "\xC2\xA0",
                                             "^",
                                             "\xC2\x85",
                                             "\xE3\x80\x80",
                                             "\xE2\x80\xA8",
                                             "\xE6\xBC\xA2",
                                             "\xD9\xA3",
                                             "\xF0\x9F\x98\x80",
                                             "\xCC\x81",
                                             "\xC5\xBF",
                                             "<|",
                                             "|>",
                                             "<|x|>",
                                             "<|x|><|y|>",
                                             "\xE1\xA0\x8E",
                                             "the",
                                             " of",
                                             "\xC2\xB2",
                                             "\xE2\x80\x8B"};
    std::string text;
    for (size_t i = 0; i < characters; ++i) {
      if (below(8)) {
        text += common[below(std::size(common))];
        continue;
      }
      char32_t code = static_cast<char32_t>(below(below(2) ? 0x3000 : 0x110000));
      runtime::appendUtf8(text, code >= 0xD800 && code < 0xE000 ? U'x' : code);
    }
    return text;
  }

  // Either, or one with parts of the other.
  std::string any(size_t size) {
    switch (below(3)) {
    case 0:
      return unicode(size);
    case 1:
      return bytes(size);
    default:
      return unicode(size / 2) + bytes(below(4)) + unicode(size / 2);
    }
  }

private:
  std::mt19937 random_;
};

} // namespace burin::test
