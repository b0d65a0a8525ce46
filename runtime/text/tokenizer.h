// Between text and token ids.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace burin::runtime {

class Tokenizer {
public:
  virtual ~Tokenizer() = default;
  virtual int64_t vocab() const = 0; // ids are in [0, vocab)
  virtual std::vector<int32_t> encode(std::string_view text) const = 0;
  // An id that stands for no text becomes U+FFFD: a model may have more ids than its tokenizer.
  virtual std::string decode(std::span<const int32_t> ids) const = 0;
};

// The id of a byte is its value.
class ByteTokenizer : public Tokenizer {
public:
  int64_t vocab() const override { return 256; }
  std::vector<int32_t> encode(std::string_view text) const override;
  std::string decode(std::span<const int32_t> ids) const override;
};

} // namespace burin::runtime
