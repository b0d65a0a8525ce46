// Byte-level byte pair encoding: a pre-token begins as its bytes, and of all neighbours that a merge names, those of
// the earliest merge become one token, the leftmost first, until none is left.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/pretokenize.h"
#include "text/special_tree.h"
#include "text/tokenizer.h"

namespace burin::runtime {

// What a byte-level BPE tokenizer is, whatever file it is from.
struct BpeModel {
  std::vector<std::string> tokens;                 // bytes by id; an empty one is an id without text
  std::vector<std::pair<int32_t, int32_t>> merges; // the first is the earliest; both tokens together are a token
  std::vector<int32_t> specials;                   // ids whose text is cut out before anything else
  std::string pattern = gpt2Pattern;
  bool wholeFirst = false; // a pre-token that is a token is that token, even if its merges lead elsewhere
};

class BpeTokenizer : public Tokenizer {
public:
  // An inconsistent model is an error that begins with `source`.
  BpeTokenizer(BpeModel model, const std::string &source);

  int64_t vocab() const override { return static_cast<int64_t>(model_.tokens.size()); }
  std::vector<int32_t> encode(std::string_view text, std::string_view source = "the text",
                              Specials specials = Specials::allow) const override;
  std::unique_ptr<EncodeStream> stream(std::string source = "the text",
                                       Specials specials = Specials::allow) const override;
  std::optional<size_t> border(std::string_view text, size_t from, Specials specials = Specials::allow) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string bytesOf(int32_t id) const override;
  bool isSpecial(int32_t id) const override;
  std::optional<int32_t> endOfText() const override;
  std::string start() const override;
  uint64_t hash() const override;
  nlohmann::json saved() const override;

  const BpeModel &model() const { return model_; }

private:
  friend class BpeEncoder;

  struct Merge {
    uint64_t pair = ~uint64_t{0}; // left id and right id
    int32_t rank = 0, token = 0;
  };
  static uint64_t pairOf(int32_t left, int32_t right) {
    return static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right);
  }
  const Merge *findMerge(int32_t left, int32_t right) const {
    uint64_t pair = pairOf(left, right);
    for (size_t at = (pair * 0x9E3779B97F4A7C15u) >> mergeShift_;; at = (at + 1) & (merges_.size() - 1)) {
      if (merges_[at].pair == pair)
        return &merges_[at];
      if (merges_[at].pair == ~uint64_t{0})
        return nullptr;
    }
  }

  BpeModel model_;
  std::optional<Regex> regex_; // none for GPT-2's pattern
  std::array<int32_t, 256> byteIds_{};
  std::vector<Merge> merges_; // a hash table, at most half full
  int mergeShift_ = 0;
  std::vector<std::pair<std::string, int32_t>> whole_; // with wholeFirst, the tokens it makes a difference for; sorted
  std::string bytes_;                                  // of all tokens, one after the other, for decoding
  std::vector<uint32_t> begins_;                       // by id, and the end
  SpecialTree specials_;
};

} // namespace burin::runtime
