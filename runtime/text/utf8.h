// UTF-8 as the Unicode standard defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace burin::runtime {

struct Character {
  char32_t code = 0;
  size_t bytes = 0; // 0: no character begins here
};

// The character that begins at `offset`, which lies within the text.
Character characterAt(std::string_view text, size_t offset);

// How many bytes at the end of a text begin a character that may be completed by what follows: 0 to 3.
size_t incompleteTail(std::string_view text);

// The text with U+FFFD for each malformed part, as long as it could have become a character ("maximal subpart").
std::string wellFormed(std::string_view text);

void appendUtf8(std::string &text, char32_t code);

} // namespace burin::runtime
