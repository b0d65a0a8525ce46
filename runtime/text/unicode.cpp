#include "text/unicode.h"

#include <algorithm>

#include "error.h"
#include "text/unicode_ranges.h"

namespace burin::runtime {
namespace {

using unicode::Range;

// The property White_Space.
constexpr Range spaces[] = {{0x9, 0xD},       {0x20, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
                            {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};

} // namespace

const CharacterClasses &CharacterClasses::get() {
  static const CharacterClasses classes;
  return classes;
}

CharacterClasses::CharacterClasses() {
  size_t used = 0;
  const Range *letter = std::begin(unicode::letters), *number = std::begin(unicode::numbers),
              *space = std::begin(spaces);
  // The ranges are walked along with the code points.
  auto within = [](const Range *&range, const Range *end, uint32_t code) {
    while (range != end && range->last < code)
      ++range;
    return range != end && range->first <= code;
  };
  for (uint32_t first = 0; first < 0x110000; first += 256) {
    Page page{};
    for (uint32_t i = 0; i < 256; ++i)
      page[i] = within(letter, std::end(unicode::letters), first + i)   ? CharacterClass::letter
                : within(number, std::end(unicode::numbers), first + i) ? CharacterClass::number
                : within(space, std::end(spaces), first + i)            ? CharacterClass::space
                                                                        : CharacterClass::other;
    auto known = std::find(pages_.begin(), pages_.begin() + static_cast<std::ptrdiff_t>(used), page);
    if (known == pages_.begin() + static_cast<std::ptrdiff_t>(used)) {
      if (used == pages_.size())
        throw std::logic_error("the table of character classes needs more pages");
      pages_[used++] = page;
    }
    page_[first >> 8] = static_cast<uint16_t>(known - pages_.begin());
  }
}

} // namespace burin::runtime
