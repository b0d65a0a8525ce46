// Table 3-7 of the Unicode standard: what the second byte may be depends on the first, all others are 80..BF.
#include "text/utf8.h"

#include <algorithm>

namespace burin::runtime {
namespace {

struct Form {
  size_t bytes = 0;                         // 0: begins no character
  unsigned char second = 0x80, last = 0xBF; // the range of the second byte
};

Form formOf(unsigned char first) {
  if (first < 0x80)
    return {1};
  if (first < 0xC2 || first > 0xF4)
    return {};
  if (first < 0xE0)
    return {2};
  if (first < 0xF0)
    return {3, static_cast<unsigned char>(first == 0xE0 ? 0xA0 : 0x80),
            static_cast<unsigned char>(first == 0xED ? 0x9F : 0xBF)};
  return {4, static_cast<unsigned char>(first == 0xF0 ? 0x90 : 0x80),
          static_cast<unsigned char>(first == 0xF4 ? 0x8F : 0xBF)};
}

// How many bytes from `offset` on are the beginning of a character, at most all of it.
size_t begun(std::string_view text, size_t offset, const Form &form) {
  size_t count = form.bytes ? 1 : 0;
  while (count < form.bytes && offset + count < text.size()) {
    auto byte = static_cast<unsigned char>(text[offset + count]);
    if (byte < (count == 1 ? form.second : 0x80) || byte > (count == 1 ? form.last : 0xBF))
      break;
    ++count;
  }
  return count;
}

} // namespace

Character characterAt(std::string_view text, size_t offset) {
  auto first = static_cast<unsigned char>(text[offset]);
  Form form = formOf(first);
  if (form.bytes == 1)
    return {first, 1};
  if (form.bytes == 0 || begun(text, offset, form) < form.bytes)
    return {};
  char32_t code = first & (0xFFu >> (form.bytes + 1));
  for (size_t i = 1; i < form.bytes; ++i)
    code = code << 6 | (static_cast<unsigned char>(text[offset + i]) & 0x3Fu);
  return {code, form.bytes};
}

size_t incompleteTail(std::string_view text) {
  for (size_t tail = 1; tail <= std::min<size_t>(3, text.size()); ++tail) {
    size_t offset = text.size() - tail;
    Form form = formOf(static_cast<unsigned char>(text[offset]));
    if (form.bytes)
      return begun(text, offset, form) == tail && tail < form.bytes ? tail : 0;
  }
  return 0;
}

std::string wellFormed(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (size_t offset = 0; offset < text.size();) {
    Form form = formOf(static_cast<unsigned char>(text[offset]));
    size_t count = begun(text, offset, form);
    if (count && count == form.bytes)
      result += text.substr(offset, count);
    else
      result += "\xEF\xBF\xBD";
    offset += std::max<size_t>(count, 1);
  }
  return result;
}

void appendUtf8(std::string &text, char32_t code) {
  auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80)
    return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xE0 | code >> 12);
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3F));
    }
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

} // namespace burin::runtime
