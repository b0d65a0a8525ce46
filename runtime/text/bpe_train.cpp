// Two halves: counting pre-tokens, which is most of the work and done by all threads, and merging, which changes each
// place of a different pre-token only when its pair is the one taken.
#include "text/bpe_train.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <exception>
#include <mutex>
#include <queue>
#include <unordered_map>

#include "error.h"
#include "store/file.h"

namespace burin::runtime {
namespace {

// Hands out the texts in pieces that can be encoded apart.
class Pieces {
public:
  Pieces(const std::vector<std::string> &paths, const SpecialTree &specials, const TrainBpe &options)
      : paths_(paths), specials_(specials), gpt2_(isGpt2Pattern(options.pattern)), options_(options) {
    for (const std::string &path : paths) {
      File file = openForReading(path, "text");
      struct stat status {};
      if (fstat(file.get(), &status) || !S_ISREG(status.st_mode))
        fail("text {} is not a regular file", path);
      total_ += static_cast<uint64_t>(status.st_size);
    }
    const auto threads = static_cast<uint64_t>(options.threads);
    most_ = std::max<uint64_t>(options.memory / (2 * threads), 4096);
    size_ = std::min(most_ / 2, std::clamp<uint64_t>(total_ / (8 * threads), 64 << 10, 8 << 20));
  }

  // The next piece; false if there is none. For any thread.
  bool next(std::string &piece) {
    std::lock_guard lock(mutex_);
    while (open_ || path_ < paths_.size()) {
      if (!open_) {
        file_ = openForReading(paths_[path_], "text");
        open_ = true;
      }
      piece.swap(rest_);
      rest_.clear();
      for (uint64_t size = size_;; size *= 2) {
        if (!fill(piece, std::min(size, most_))) {
          open_ = false;
          ++path_;
          break;
        }
        if (std::optional<size_t> cut = lastBorder(piece)) {
          rest_ = piece.substr(*cut);
          piece.resize(*cut);
          break;
        }
        if (size >= most_)
          fail("{}: there is no place to cut the text in {} bytes of it; more can be read at once with a larger "
               "--memory "
               "or fewer --threads{}",
               paths_[path_], piece.size(), gpt2_ ? "" : "; with this pattern, only special tokens are such places");
      }
      if (options_.progress)
        options_.progress("counting", done_, total_);
      if (!piece.empty())
        return true;
    }
    return false;
  }

private:
  // Reads until the piece has `size` bytes; false at the end of the file.
  bool fill(std::string &piece, uint64_t size) {
    size_t have = piece.size();
    if (have >= size)
      return true;
    piece.resize(size);
    while (have < size) {
      ssize_t got = read(file_.get(), piece.data() + have, size - have);
      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        fail("cannot read {}: {}", paths_[path_], systemError());
      if (got == 0)
        break;
      have += static_cast<size_t>(got);
      done_ += static_cast<uint64_t>(got);
    }
    piece.resize(have);
    return have == size;
  }

  std::optional<size_t> lastBorder(std::string_view piece) const {
    for (size_t tail = 4096; tail / 16 < piece.size(); tail *= 16)
      if (auto cut = borderOf(specials_, gpt2_, piece, piece.size() - std::min(tail, piece.size())); cut && *cut > 0)
        return cut;
    return std::nullopt;
  }

  const std::vector<std::string> &paths_;
  const SpecialTree &specials_;
  const bool gpt2_;
  const TrainBpe &options_;
  uint64_t total_ = 0, done_ = 0, size_ = 0, most_ = 0;
  std::mutex mutex_;
  size_t path_ = 0;
  bool open_ = false;
  File file_;
  std::string rest_; // of the open file
};

// A hash table of pre-tokens. How large it is depends on which pre-tokens it has, and not on their order.
class Counts {
public:
  // Keeps the sum of what all tables take in `sum`.
  explicit Counts(std::atomic<uint64_t> &sum) : sum_(sum) { grow(1024); }
  ~Counts() { sum_ -= bytes_; }
  Counts(const Counts &) = delete;
  Counts &operator=(const Counts &) = delete;

  // Takes over all counts of `other`.
  void take(Counts &other) {
    other.each([&](std::string_view text, uint64_t count) { add(text, count); });
    other.entries_ = {};
    other.texts_ = {};
    other.used_ = other.room_ = 0;
    other.grow(1024);
  }

  void add(std::string_view text, uint64_t count = 1) {
    const uint64_t hash = hashOf(text);
    for (size_t at = hash & (entries_.size() - 1);; at = (at + 1) & (entries_.size() - 1)) {
      Entry &entry = entries_[at];
      if (entry.count == 0) {
        entry = {hash, texts_.size(), text.size(), count};
        if (texts_.size() + text.size() > room_) {
          texts_.reserve(room_ = std::bit_ceil(texts_.size() + text.size()));
          account();
        }
        texts_ += text;
        if (2 * ++used_ > entries_.size())
          grow(2 * entries_.size());
        return;
      }
      if (entry.hash == hash && textOf(entry) == text) {
        entry.count += count;
        return;
      }
    }
  }

  template <typename Each> void each(const Each &each) const {
    for (const Entry &entry : entries_)
      if (entry.count)
        each(textOf(entry), entry.count);
  }
  size_t size() const { return used_; }
  uint64_t bytes() const { return bytes_; }

private:
  struct Entry {
    uint64_t hash = 0, begin = 0, size = 0, count = 0;
  };

  std::string_view textOf(const Entry &entry) const { return {texts_.data() + entry.begin, entry.size}; }

  static uint64_t hashOf(std::string_view text) {
    uint64_t hash = text.size();
    auto mix = [&](uint64_t word) {
      hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 32;
    };
    while (text.size() >= 8) {
      uint64_t word;
      std::memcpy(&word, text.data(), 8);
      mix(word);
      text.remove_prefix(8);
    }
    uint64_t word = 0;
    std::memcpy(&word, text.data(), text.size());
    mix(word);
    return hash;
  }

  void grow(size_t room) {
    std::vector<Entry> old(room);
    old.swap(entries_);
    for (const Entry &entry : old) {
      if (entry.count == 0)
        continue;
      size_t at = entry.hash & (room - 1);
      while (entries_[at].count)
        at = (at + 1) & (room - 1);
      entries_[at] = entry;
    }
    account();
  }

  void account() {
    const uint64_t bytes = entries_.size() * sizeof(Entry) + room_;
    sum_ += bytes - bytes_;
    bytes_ = bytes;
  }

  std::atomic<uint64_t> &sum_;
  uint64_t bytes_ = 0;
  std::vector<Entry> entries_;
  std::string texts_;
  size_t used_ = 0, room_ = 0; // entries in use; bytes that texts_ may grow to
};

PreTokenCounts countPreTokens(const std::vector<std::string> &paths, const TrainBpe &options) {
  SpecialTree specials;
  for (const std::string &special : options.specials)
    specials.add(special, 0);
  std::optional<Regex> regex;
  if (!isGpt2Pattern(options.pattern))
    regex.emplace(options.pattern, "--pattern");
  Pieces pieces(paths, specials, options);
  std::atomic<uint64_t> bytes = 0;
  Counts all(bytes);
  std::mutex mutex;
  std::exception_ptr failure;
  std::atomic<bool> stop = false;
  // The threads' tables share most of their pre-tokens: together they may not fit where their union does. Only the
  // union decides whether there is too much, or it would depend on which thread gets which piece.
  auto handIn = [&](Counts &counts) {
    std::lock_guard lock(mutex);
    all.take(counts);
    if (all.bytes() > options.memory)
      fail("the different pre-tokens of the texts take more than the {} bytes that --memory allows", options.memory);
  };

#pragma omp parallel num_threads(options.threads)
  try {
    Counts counts(bytes);
    std::unique_ptr<RegexMatcher> matcher = regex ? regex->matcher() : nullptr;
    auto count = [&](std::string_view preToken) { counts.add(preToken); };
    auto countText = [&](std::string_view text) {
      if (matcher)
        eachRegexPreToken(*matcher, text, 0, true, count);
      else
        eachGpt2PreToken(text, 0, true, count);
    };
    std::string piece;
    while (!stop && pieces.next(piece)) {
      std::string_view text = piece;
      size_t from = 0;
      for (SpecialTree::Found found; (found = specials.find(text, from)).id >= 0; from = found.begin + found.bytes)
        countText(text.substr(from, found.begin - from));
      countText(text.substr(from));
      if (bytes > options.memory)
        handIn(counts);
    }
    handIn(counts);
  } catch (...) {
    std::lock_guard lock(mutex);
    stop = true;
    if (!failure)
      failure = std::current_exception();
  }
  if (failure)
    std::rethrow_exception(failure);
  PreTokenCounts result;
  result.reserve(all.size());
  all.each([&](std::string_view text, uint64_t number) { result.emplace_back(text, number); });
  return result;
}

void check(const TrainBpe &options) {
  checkSpecials(options.specials);
  const auto least = 256 + static_cast<int64_t>(options.specials.size());
  if (options.vocab < least || options.vocab > (4 << 20))
    throw UsageError(fmt::format("the vocabulary must have {} to {} tokens (256 bytes and {} special tokens), not {}",
                                 least, 4 << 20, options.specials.size(), options.vocab));
}

// The different pre-tokens as tokens in a list, and where each pair of neighbours is.
class Merger {
public:
  explicit Merger(const PreTokenCounts &counts) {
    for (int byte = 0; byte < 256; ++byte)
      model.tokens.emplace_back(1, static_cast<char>(byte));
    size_t total = 0;
    for (const auto &[text, count] : counts)
      total += text.size();
    if (total >= static_cast<size_t>(INT32_MAX))
      fail("the different pre-tokens have {} bytes together, at most {} can be learnt from", total, INT32_MAX);
    places_.reserve(total);
    for (const auto &[text, count] : counts) {
      const auto first = static_cast<int32_t>(places_.size()), last = first + static_cast<int32_t>(text.size()) - 1;
      for (int32_t at = first; at <= last; ++at)
        places_.push_back({static_cast<unsigned char>(text[static_cast<size_t>(at - first)]), at > first ? at - 1 : -1,
                           at < last ? at + 1 : -1, static_cast<uint32_t>(counts_.size())});
      counts_.push_back(static_cast<int64_t>(count));
    }
    for (size_t at = 0; at < places_.size(); ++at)
      if (places_[at].next >= 0)
        found(static_cast<int32_t>(at));
    offerFresh();
  }

  // Makes a token of the most frequent pair; false if no pair is left.
  bool merge() {
    while (!heap_.empty()) {
      const Candidate best = heap_.top();
      heap_.pop();
      Pair &pair = pairs_[best.pair];
      if (pair.count != best.count) { // it has become rarer meanwhile
        if (pair.count > 0)
          heap_.push({pair.count, best.pair});
        continue;
      }
      take(best.pair);
      return true;
    }
    return false;
  }

  BpeModel model;

private:
  struct Place {
    int32_t token, previous, next; // next and previous within the pre-token; -1: none
    uint32_t preToken;
  };
  struct Pair {
    int32_t left, right;
    int64_t count = 0;
    std::vector<int32_t> places{}; // ascending; some may be outdated
  };
  struct Candidate {
    int64_t count;
    uint32_t pair;
  };
  // Less worth taking.
  struct Less {
    const Merger *merger;
    bool operator()(const Candidate &a, const Candidate &b) const {
      if (a.count != b.count)
        return a.count < b.count;
      const Pair &left = merger->pairs_[a.pair], &right = merger->pairs_[b.pair];
      const auto &tokens = merger->model.tokens;
      auto bytes = [&](int32_t id) -> const std::string & { return tokens[static_cast<size_t>(id)]; };
      int order = bytes(left.left).compare(bytes(right.left));
      return order ? order < 0 : bytes(left.right) < bytes(right.right);
    }
  };

  Place &at(int32_t place) { return places_[static_cast<size_t>(place)]; }

  static uint64_t keyOf(int32_t left, int32_t right) {
    return static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right);
  }

  // A pair begins at `place`.
  void found(int32_t place) {
    const int32_t left = at(place).token, right = at(at(place).next).token;
    auto [known, isNew] = pairOf_.try_emplace(keyOf(left, right), static_cast<uint32_t>(pairs_.size()));
    if (isNew) {
      fresh_.push_back(known->second);
      pairs_.push_back({left, right});
    }
    Pair &pair = pairs_[known->second];
    pair.count += counts_[at(place).preToken];
    pair.places.push_back(place);
  }

  void lost(int32_t left, int32_t right, int64_t count) { pairs_[pairOf_.at(keyOf(left, right))].count -= count; }

  void offerFresh() {
    for (uint32_t pair : fresh_)
      if (pairs_[pair].count > 0)
        heap_.push({pairs_[pair].count, pair});
    fresh_.clear();
  }

  void take(uint32_t taken) {
    const int32_t left = pairs_[taken].left, right = pairs_[taken].right;
    const auto token = static_cast<int32_t>(model.tokens.size());
    model.merges.emplace_back(left, right);
    model.tokens.push_back(model.tokens[static_cast<size_t>(left)] + model.tokens[static_cast<size_t>(right)]);
    // None is left afterwards: each is merged, or loses a token to the one before it, as the second `aa` of `aaa` does.
    pairs_[taken].count = 0;
    const std::vector<int32_t> places = std::move(pairs_[taken].places);
    auto isTaken = [&](int32_t a, int32_t b) { return a == left && b == right; };
    for (int32_t place : places) {
      const int32_t next = at(place).next;
      if (at(place).token != left || next < 0 || at(next).token != right)
        continue;
      const int64_t count = counts_[at(place).preToken];
      const int32_t before = at(place).previous, after = at(next).next;
      if (before >= 0 && !isTaken(at(before).token, left))
        lost(at(before).token, left, count);
      if (after >= 0 && !isTaken(right, at(after).token))
        lost(right, at(after).token, count);
      at(place).token = token;
      at(next).token = -1;
      at(place).next = after;
      if (before >= 0)
        found(before);
      if (after >= 0) {
        at(after).previous = place;
        found(place);
      }
    }
    offerFresh();
  }

  std::vector<Place> places_;
  std::vector<int64_t> counts_; // by pre-token
  std::vector<Pair> pairs_;
  std::unordered_map<uint64_t, uint32_t> pairOf_;
  std::vector<uint32_t> fresh_; // pairs not offered yet
  std::priority_queue<Candidate, std::vector<Candidate>, Less> heap_{Less{this}};
};

} // namespace

BpeModel learnMerges(const PreTokenCounts &counts, const TrainBpe &options) {
  check(options);
  const auto merges = static_cast<uint64_t>(options.vocab) - 256 - options.specials.size();
  Merger merger(counts);
  uint64_t done = 0;
  for (; done < merges && merger.merge(); ++done)
    if (options.progress && done % 64 == 0)
      options.progress("merging", done, merges);
  if (options.progress)
    options.progress("merging", done, merges);
  BpeModel model = std::move(merger.model);
  model.pattern = options.pattern;
  for (const std::string &special : options.specials) {
    model.specials.push_back(static_cast<int32_t>(model.tokens.size()));
    model.tokens.push_back(special);
  }
  return model;
}

BpeModel trainBpe(const std::vector<std::string> &paths, const TrainBpe &options) {
  check(options);
  return learnMerges(countPreTokens(paths, options), options);
}

} // namespace burin::runtime
