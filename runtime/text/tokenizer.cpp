// Bytes in, bytes out: decode(encode(text)) is the text, whatever it holds.
#include "text/tokenizer.h"

namespace burin::runtime {

std::vector<int32_t> ByteTokenizer::encode(std::string_view text) const {
  std::vector<int32_t> ids;
  ids.reserve(text.size());
  for (char c : text)
    ids.push_back(static_cast<unsigned char>(c));
  return ids;
}

std::string ByteTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (int32_t id : ids) {
    if (id >= 0 && id < vocab())
      text += static_cast<char>(id);
    else
      text += "\xEF\xBF\xBD";
  }
  return text;
}

} // namespace burin::runtime
