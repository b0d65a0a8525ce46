// Most pre-tokens of a text have occurred before, so their ids are remembered; the others are merged, short ones by
// looking for the earliest merge over and over, long ones with a heap, so that no text takes quadratic time.
#include "text/bpe.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <queue>
#include <unordered_map>

#include "error.h"
#include "hash.h"
#include "text/formats.h"

namespace burin::runtime {

using nlohmann::json;

// Encodes one text, whole or in pieces.
class BpeEncoder : public EncodeStream {
public:
  BpeEncoder(const BpeTokenizer &tokenizer, std::string source, Specials specials, size_t slots)
      : tokenizer_(tokenizer), source_(std::move(source)), specials_(specials), slots_(slots),
        shift_(64 - std::countr_zero(slots)) {
    if (tokenizer.regex_) {
      matcher_ = tokenizer.regex_->matcher();
      lookBehind_ = 4 * std::max<size_t>(1, tokenizer.regex_->lookBehind());
    }
  }

  void encode(std::string_view text, std::vector<int32_t> &ids) {
    ids_ = &ids;
    size_t segment = 0;
    process(text, segment, 0, true);
    flush();
  }

  void feed(std::string_view text, std::vector<int32_t> &ids) override {
    held_ += text;
    // An unfinished pre-token is looked at again only once the text has doubled: long ones stay linear in time.
    if (held_.size() < again_)
      return;
    ids_ = &ids;
    size_t segment = 0, stop = process(held_, segment, context_, false);
    flush();
    size_t keep = matcher_ ? std::max(segment, stop - std::min(stop, lookBehind_)) : stop;
    while (keep < stop && (static_cast<unsigned char>(held_[keep]) & 0xC0) == 0x80) // not within a character
      ++keep;
    context_ = stop - keep;
    base_ += keep;
    held_.erase(0, keep);
    again_ = held_.size() > 4096 ? 2 * held_.size() : 0;
  }

  void finish(std::vector<int32_t> &ids) override {
    ids_ = &ids;
    size_t segment = 0;
    process(held_, segment, context_, true);
    flush();
    held_.clear();
    context_ = base_ = again_ = 0;
  }

  // The ids of one pre-token by merges alone.
  const std::vector<int32_t> &merge(std::string_view piece) {
    parts_.clear();
    for (char byte : piece)
      parts_.push_back(tokenizer_.byteIds_[static_cast<unsigned char>(byte)]);
    if (piece.size() <= 48)
      mergeShort();
    else
      mergeLong();
    return parts_;
  }

private:
  // Remembers a pre-token of up to 23 bytes with up to 9 ids: a cache line.
  struct alignas(64) Slot {
    uint64_t key[3] = {}; // the bytes; the last one is their number, 0 in an empty slot
    int32_t ids[9] = {};
    int32_t count = 0;
  };
  static constexpr size_t longestKey = 23, mostIds = 9;

  // Hands out the ids of text[from..] up to the returned place: its end or, if the text may go on, what more text could
  // change. `segment` is where the text between special tokens begins that `from` lies in, then that of the result.
  size_t process(std::string_view text, size_t &segment, size_t from, bool whole) {
    textEnd_ = text.data() + text.size();
    const SpecialTree &tree = tokenizer_.specials_;
    const size_t longest = specials_ == Specials::plain ? 0 : tree.longest();
    while (true) {
      SpecialTree::Found special = longest ? tree.find(text, from) : SpecialTree::Found();
      if (special.id < 0 || (!whole && special.begin + longest > text.size()))
        break;
      preTokens(text.substr(segment, special.begin - segment), from - segment, true);
      if (specials_ == Specials::forbid)
        fail("{} has the special token '{}' at offset {}, where only text is allowed", source_,
             text.substr(special.begin, special.bytes), base_ + special.begin);
      put(special.id);
      segment = from = special.begin + special.bytes;
    }
    size_t known = text.size();
    if (!whole) {
      known -= std::min(known, longest ? longest - 1 : 0);
      known -= incompleteTail(text.substr(0, known));
      known = std::max(known, from);
    }
    return segment + preTokens(text.substr(segment, known - segment), from - segment, whole);
  }

  size_t preTokens(std::string_view text, size_t from, bool whole) {
    auto each = [this](std::string_view piece) { add(piece); };
    return matcher_ ? eachRegexPreToken(*matcher_, text, from, whole, each) : eachGpt2PreToken(text, from, whole, each);
  }

  void add(std::string_view piece) {
    if (count_ + mostIds > std::size(settled_))
      flush();
    if (piece.size() > longestKey)
      return addUnknown(piece, nullptr);
    uint64_t key[3];
    load(piece, key);
    Slot &slot =
        slots_[(key[0] * 0x9E3779B97F4A7C15u ^ key[1] * 0xC2B2AE3D27D4EB4Fu ^ key[2] * 0x165667B19E3779F9u) >> shift_];
    if (slot.key[0] != key[0] || slot.key[1] != key[1] || slot.key[2] != key[2]) {
      std::memcpy(slot.key, key, sizeof key);
      return addUnknown(piece, &slot);
    }
    std::memcpy(settled_ + count_, slot.ids, sizeof slot.ids); // all: cheaper than counting
    count_ += static_cast<size_t>(slot.count);
  }

  void load(std::string_view piece, uint64_t (&key)[3]) const {
    const size_t size = piece.size();
    if (textEnd_ - piece.data() >= static_cast<std::ptrdiff_t>(sizeof key)) {
      std::memcpy(key, piece.data(), sizeof key);
      auto mask = [](size_t bytes) { return bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * bytes) - 1; };
      key[0] &= mask(size);
      key[1] &= size > 8 ? mask(size - 8) : 0;
      key[2] &= size > 16 ? mask(size - 16) : 0;
    } else {
      std::memset(key, 0, sizeof key);
      std::memcpy(key, piece.data(), size);
    }
    key[2] |= static_cast<uint64_t>(size) << 56;
  }

  void addUnknown(std::string_view piece, Slot *slot) {
    const auto &whole = tokenizer_.whole_;
    auto at = whole.empty()
                  ? whole.end()
                  : std::lower_bound(whole.begin(), whole.end(), piece,
                                     [](const auto &token, std::string_view text) { return token.first < text; });
    if (at != whole.end() && at->first == piece)
      parts_.assign(1, at->second);
    else
      merge(piece);
    if (slot && parts_.size() <= mostIds) {
      std::copy(parts_.begin(), parts_.end(), slot->ids);
      slot->count = static_cast<int32_t>(parts_.size());
    } else if (slot) {
      slot->key[2] = 0;
    }
    for (int32_t id : parts_)
      put(id);
  }

  void put(int32_t id) {
    if (count_ == std::size(settled_))
      flush();
    settled_[count_++] = id;
  }

  void flush() {
    ids_->insert(ids_->end(), settled_, settled_ + count_);
    count_ = 0;
  }

  static constexpr int32_t never = INT32_MAX; // the rank of what does not merge

  int32_t rankAt(size_t i, size_t next) const {
    const BpeTokenizer::Merge *merge = tokenizer_.findMerge(parts_[i], parts_[next]);
    return merge ? merge->rank : never;
  }

  void mergeShort() {
    size_t size = parts_.size();
    int32_t ranks[48];
    for (size_t i = 0; i + 1 < size; ++i)
      ranks[i] = rankAt(i, i + 1);
    while (size > 1) {
      size_t first = 0;
      for (size_t i = 1; i + 1 < size; ++i)
        if (ranks[i] < ranks[first])
          first = i;
      if (ranks[first] == never)
        break;
      parts_[first] = tokenizer_.findMerge(parts_[first], parts_[first + 1])->token;
      for (size_t i = first + 1; i + 1 < size; ++i) {
        parts_[i] = parts_[i + 1];
        ranks[i] = ranks[i + 1]; // the last is none, and not looked at
      }
      --size;
      if (first > 0)
        ranks[first - 1] = rankAt(first - 1, first);
      if (first + 1 < size)
        ranks[first] = rankAt(first, first + 1);
    }
    parts_.resize(size);
  }

  void mergeLong() {
    const size_t size = parts_.size();
    if (size >= static_cast<size_t>(INT32_MAX))
      fail("{} has {} bytes without a place to cut them; {} can be encoded", source_, size, INT32_MAX);
    struct Part {
      int32_t previous, next, rank; // of this and the next
    };
    std::vector<Part> list(size);
    std::vector<uint64_t> candidates; // rank and place
    for (size_t i = 0; i < size; ++i) {
      list[i] = {static_cast<int32_t>(i) - 1, static_cast<int32_t>(i) + 1, i + 1 < size ? rankAt(i, i + 1) : never};
      if (list[i].rank != never)
        candidates.push_back(static_cast<uint64_t>(list[i].rank) << 32 | i);
    }
    std::priority_queue heap(std::greater<>(), std::move(candidates));
    auto renew = [&](size_t i) {
      auto next = static_cast<size_t>(list[i].next);
      list[i].rank = next < size ? rankAt(i, next) : never;
      if (list[i].rank != never)
        heap.push(static_cast<uint64_t>(list[i].rank) << 32 | i);
    };
    while (!heap.empty()) {
      auto rank = static_cast<int32_t>(heap.top() >> 32);
      auto at = static_cast<size_t>(heap.top() & 0xFFFFFFFF);
      heap.pop();
      if (list[at].rank != rank)
        continue; // something else became of this place meanwhile
      auto next = static_cast<size_t>(list[at].next);
      parts_[at] = tokenizer_.findMerge(parts_[at], parts_[next])->token;
      parts_[next] = -1;
      list[next].rank = never;
      list[at].next = list[next].next;
      if (list[at].next < static_cast<int32_t>(size))
        list[static_cast<size_t>(list[at].next)].previous = static_cast<int32_t>(at);
      renew(at);
      if (list[at].previous >= 0)
        renew(static_cast<size_t>(list[at].previous));
    }
    std::erase(parts_, -1);
  }

  const BpeTokenizer &tokenizer_;
  std::string source_;
  Specials specials_;
  std::unique_ptr<RegexMatcher> matcher_;
  size_t lookBehind_ = 0; // bytes

  std::vector<Slot> slots_;
  int shift_ = 0;
  const char *textEnd_ = nullptr;
  std::vector<int32_t> parts_; // of the pre-token at hand
  int32_t settled_[4096];      // ids on their way to *ids_
  size_t count_ = 0;
  std::vector<int32_t> *ids_ = nullptr;

  std::string held_;   // by a stream
  size_t context_ = 0; // bytes at its beginning that are encoded already, for patterns that look back
  size_t base_ = 0;    // where it begins in the text
  size_t again_ = 0;
};

BpeTokenizer::BpeTokenizer(BpeModel model, const std::string &source) : model_(std::move(model)) {
  const size_t count = model_.tokens.size();
  auto special = std::vector<bool>(count);
  for (int32_t id : model_.specials) {
    const std::string &text = model_.tokens[static_cast<size_t>(id)];
    if (text.empty())
      fail("{}: the special token with id {} is empty", source, id);
    special[static_cast<size_t>(id)] = true;
    specials_.add(text, id);
  }
  std::sort(model_.specials.begin(), model_.specials.end());

  std::unordered_map<std::string_view, int32_t> ids;
  ids.reserve(count);
  for (size_t id = 0; id < count; ++id)
    if (const std::string &token = model_.tokens[id]; !token.empty())
      if (auto [at, isNew] = ids.try_emplace(token, static_cast<int32_t>(id)); !isNew)
        fail("{}: the ids {} and {} are the same token '{}'", source, at->second, id, printable(token));
  for (size_t byte = 0; byte < 256; ++byte) {
    const auto text = static_cast<char>(byte);
    auto at = ids.find({&text, 1});
    if (at == ids.end())
      fail("{}: there is no token for the byte {:#04x} ('{}'); each of the 256 bytes must have one", source, byte,
           printable({&text, 1}));
    byteIds_[byte] = at->second;
  }

  const size_t room = std::bit_ceil(std::max<size_t>(2 * model_.merges.size(), 16));
  merges_.resize(room);
  mergeShift_ = 64 - std::countr_zero(room);
  for (size_t rank = 0; rank < model_.merges.size(); ++rank) {
    auto [left, right] = model_.merges[rank];
    const std::string &first = model_.tokens[static_cast<size_t>(left)],
                      &second = model_.tokens[static_cast<size_t>(right)];
    auto merged = ids.find(first + second);
    if (merged == ids.end())
      fail("{}: merge {} makes '{}' of '{}' and '{}', which is not in the vocabulary", source, rank + 1,
           printable(first + second), printable(first), printable(second));
    if (const Merge *known = findMerge(left, right))
      fail("{}: merge {} of '{}' and '{}' is merge {} once more", source, rank + 1, printable(first), printable(second),
           known->rank + 1);
    uint64_t pair = pairOf(left, right);
    size_t at = (pair * 0x9E3779B97F4A7C15u) >> mergeShift_;
    while (merges_[at].pair != ~uint64_t{0})
      at = (at + 1) & (room - 1);
    merges_[at] = {pair, static_cast<int32_t>(rank), merged->second};
  }
  if (isGpt2Pattern(model_.pattern))
    model_.pattern = gpt2Pattern;
  else
    regex_.emplace(model_.pattern, source);

  for (const std::string &token : model_.tokens) {
    begins_.push_back(static_cast<uint32_t>(bytes_.size()));
    bytes_ += token;
    if (bytes_.size() > UINT32_MAX - 64)
      fail("{}: the tokens have more than 4 GB together", source);
  }
  begins_.push_back(static_cast<uint32_t>(bytes_.size()));
  bytes_.append(16, '\0'); // decode copies 16 bytes at once

  if (model_.wholeFirst) {
    BpeEncoder encoder(*this, source, Specials::plain, 2);
    for (size_t id = 0; id < count; ++id)
      if (const std::string &token = model_.tokens[id]; !special[id] && !token.empty())
        if (encoder.merge(token) != std::vector{static_cast<int32_t>(id)})
          whole_.emplace_back(token, static_cast<int32_t>(id));
    std::sort(whole_.begin(), whole_.end());
    model_.wholeFirst = !whole_.empty();
  }
}

std::vector<int32_t> BpeTokenizer::encode(std::string_view text, std::string_view source, Specials specials) const {
  std::vector<int32_t> ids;
  ids.reserve(text.size() / 4);
  const size_t slots = std::bit_ceil(std::clamp<size_t>(text.size() / 16, 16, 16384));
  BpeEncoder(*this, std::string(source), specials, slots).encode(text, ids);
  return ids;
}

std::unique_ptr<EncodeStream> BpeTokenizer::stream(std::string source, Specials specials) const {
  return std::make_unique<BpeEncoder>(*this, std::move(source), specials, 8192); // half a megabyte
}

std::optional<size_t> BpeTokenizer::border(std::string_view text, size_t from, Specials specials) const {
  static const SpecialTree none;
  return borderOf(specials == Specials::plain ? none : specials_, !regex_, text, from);
}

std::string BpeTokenizer::decode(std::span<const int32_t> ids) const {
  constexpr std::string_view noText = "\xEF\xBF\xBD"; // U+FFFD
  const auto size = static_cast<uint32_t>(vocab());
  auto tokenOf = [&](int32_t id) -> std::string_view {
    auto at = static_cast<uint32_t>(id); // negative ones are large
    if (at >= size || begins_[at] == begins_[at + 1])
      return noText;
    return {bytes_.data() + begins_[at], begins_[at + 1] - begins_[at]};
  };
  size_t total = 0;
  for (int32_t id : ids)
    total += tokenOf(id).size();
  std::string text(total + 16, '\0');
  char *to = text.data();
  for (int32_t id : ids) {
    std::string_view token = tokenOf(id);
    if (token.size() <= 16 && token.data() != noText.data())
      std::memcpy(to, token.data(), 16); // a fixed size is faster; the next token overwrites the rest
    else
      std::memcpy(to, token.data(), token.size());
    to += token.size();
  }
  text.resize(total);
  return text;
}

std::string BpeTokenizer::bytesOf(int32_t id) const {
  return id >= 0 && id < vocab() ? model_.tokens[static_cast<size_t>(id)] : std::string();
}

bool BpeTokenizer::isSpecial(int32_t id) const {
  return std::binary_search(model_.specials.begin(), model_.specials.end(), id);
}

std::optional<int32_t> BpeTokenizer::endOfText() const {
  for (int32_t id : model_.specials)
    if (model_.tokens[static_cast<size_t>(id)] == "<|endoftext|>")
      return id;
  return std::nullopt;
}

std::string BpeTokenizer::start() const { return "\n"; }

uint64_t BpeTokenizer::hash() const {
  auto number = [](uint64_t value, uint64_t hash) {
    char bytes[8];
    for (int i = 0; i < 8; ++i)
      bytes[i] = static_cast<char>(value >> 8 * i);
    return fnv1a({bytes, 8}, hash);
  };
  uint64_t hash = number(model_.tokens.size(), fnv1a(model_.pattern, number(model_.wholeFirst, fnv1a("bpe"))));
  for (const std::string &token : model_.tokens)
    hash = fnv1a(token, number(token.size(), hash));
  for (auto [left, right] : model_.merges)
    hash = number(pairOf(left, right), hash);
  for (int32_t id : model_.specials)
    hash = number(static_cast<uint64_t>(id), hash);
  return hash;
}

json BpeTokenizer::saved() const { return {{"kind", "bpe"}, {"tokenizer", tokenizerJson(model_)}}; }

} // namespace burin::runtime
