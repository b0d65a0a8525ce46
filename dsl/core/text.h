// Text: a short string that both compilers can build in constant evaluation (libstdc++ 12's std::string is not
// constexpr for clang). It holds names and scopes such as "layers.0.attn.q_proj.weight"; longer prose stays in
// std::string.
#pragma once

#include <cstdint>
#include <string_view>

#include "error.h"

namespace burin {

class Text {
public:
  static constexpr int capacity = 95;

  constexpr Text() = default;
  constexpr Text(std::string_view text) { append(text); }
  constexpr Text(const char *text) : Text(std::string_view(text)) {}

  constexpr Text &append(std::string_view text) {
    check(length + text.size() <= capacity, "a name with its scope may have at most 95 characters");
    for (char c : text)
      chars[length++] = c;
    return *this;
  }

  constexpr std::string_view view() const { return {chars, length}; }
  constexpr operator std::string_view() const { return view(); }
  constexpr bool empty() const { return length == 0; }

  // "layers" + "0" = "layers.0"; an empty side adds no dot.
  constexpr Text dotted(std::string_view inner) const {
    Text joined = *this;
    if (!empty() && !inner.empty())
      joined.append(".");
    return joined.append(inner);
  }
  constexpr Text dotted(int64_t index) const {
    check(index >= 0, "an index in a name must not be negative", "index", index);
    char digits[20] = {};
    int first = 20;
    do
      digits[--first] = static_cast<char>('0' + index % 10);
    while (index /= 10);
    return dotted({digits + first, static_cast<std::size_t>(20 - first)});
  }

  friend constexpr bool operator==(const Text &a, const Text &b) { return a.view() == b.view(); }
  friend constexpr bool operator==(const Text &a, std::string_view b) { return a.view() == b; }
  friend constexpr bool operator==(const Text &a, const char *b) { return a.view() == b; }

private:
  char chars[capacity] = {};
  uint8_t length = 0;
};

} // namespace burin
