// What the GPT-2 pattern asks of a character: is it a letter (\p{L}), a number (\p{N}), white space (\s), or neither.
#pragma once
#include <array>
#include <cstdint>

namespace burin::runtime {

enum class CharacterClass : uint8_t { other, letter, number, space };

// Every code point's class, in pages of 256 of which equal ones are kept once.
class CharacterClasses {
public:
  // Built at the first call; immutable.
  static const CharacterClasses &get();
  CharacterClass operator[](char32_t code) const { return pages_[page_[code >> 8]][code & 0xFF]; }

private:
  CharacterClasses();
  using Page = std::array<CharacterClass, 256>;
  std::array<uint16_t, 0x1100> page_{};
  std::array<Page, 192> pages_{}; // 163 in Unicode 14
};

constexpr std::array<CharacterClass, 128> asciiClasses = [] {
  std::array<CharacterClass, 128> classes{};
  for (unsigned c = 0; c < 128; ++c)
    classes[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? CharacterClass::letter
                 : c >= '0' && c <= '9'                           ? CharacterClass::number
                 : c == ' ' || (c >= '\t' && c <= '\r')           ? CharacterClass::space
                                                                  : CharacterClass::other;
  return classes;
}();

} // namespace burin::runtime
