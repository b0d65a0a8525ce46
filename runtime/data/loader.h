// Batches of windows from a sequence of tokens: for training random ones or all of them in a random order, for
// evaluation all of them as they come.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "data/tokens.h"
#include "train/random.h"

namespace burin::runtime {

constexpr int32_t ignored = -1; // a target that does not count

// A stream of windows of `length` tokens and the one after them. Window n is a function of n and the seed alone, so the
// number drawn so far is the whole state, to be saved and restored at any place.
class Windows {
public:
  Windows(const Tokens &tokens, Part part, int64_t length, uint64_t drawn)
      : tokens_(tokens), part_(part), length_(static_cast<uint64_t>(length)), drawn_(drawn) {}
  virtual ~Windows() = default;

  // Fills whole rows of `length` tokens and the tokens that follow each of them.
  void next(std::span<int32_t> tokens, std::span<int32_t> targets);
  // The same with the windows from `number` on.
  void fill(uint64_t number, std::span<int32_t> tokens, std::span<int32_t> targets) const;

  uint64_t drawn() const { return drawn_; }
  void seek(uint64_t drawn) { drawn_ = drawn; }
  uint64_t length() const { return length_; }

protected:
  // The place of a window's first token.
  virtual uint64_t start(uint64_t number) const = 0;
  const Part &part() const { return part_; }

private:
  const Tokens &tokens_;
  Part part_;
  uint64_t length_, drawn_;
};

// Random windows with replacement, starts uniform.
class RandomWindows : public Windows {
public:
  RandomWindows(const Tokens &tokens, Part part, int64_t length, uint64_t seed, uint64_t drawn = 0)
      : Windows(tokens, part, length, drawn), random_(seed, "windows") {}

private:
  uint64_t start(uint64_t number) const override;
  Random random_;
};

// The numbers below `count` in a random order, without a table: the order's n-th number is a function of n.
class Permutation {
public:
  Permutation(uint64_t count, uint64_t seed);
  // `which`: one of the many orders of a seed, such as that of an epoch.
  uint64_t at(uint64_t index, uint64_t which) const;

private:
  uint64_t count_;
  int halfBits_ = 1;
  Random random_;
};

// Epochs: every window once, in an order of its own for each epoch; then the next epoch, also within a batch.
//
// The windows of a part lie side by side, each one's last target being the next one's first token: (size - 1) / length
// of them. The remainder rule: the (size - 1) mod length targets at the part's end that fill no window are in none, in
// any epoch; and of the windows, rank r of n takes those at places r, r + n, r + 2n ... of the order, as many as every
// rank gets, so that the last (windows mod n) of an epoch's order are in no rank's. Which these are changes with the
// epoch; with one rank there are none.
class EpochWindows : public Windows {
public:
  EpochWindows(const Tokens &tokens, Part part, int64_t length, uint64_t seed, uint64_t drawn = 0, uint64_t rank = 0,
               uint64_t ranks = 1);
  // The windows of an epoch that are this rank's.
  uint64_t perEpoch() const { return perEpoch_; }

private:
  uint64_t start(uint64_t number) const override;
  Permutation order_;
  uint64_t rank_, ranks_, perEpoch_;
};

// Windows that a thread reads ahead: next() gives what windows.next() would, and by then has it in memory.
class Prefetch {
public:
  // A batch is of `batch` tokens.
  Prefetch(const Windows &windows, size_t batch);
  Prefetch(const Prefetch &) = delete;
  Prefetch &operator=(const Prefetch &) = delete;
  ~Prefetch();

  // What the thread met while it read, is thrown here, by the call for the batch in question.
  void next(std::span<int32_t> tokens, std::span<int32_t> targets);
  uint64_t drawn() const { return drawn_; }
  // To another place than where next() left off: what was read ahead is of no use then.
  void seek(uint64_t drawn) { drawn_ = drawn; }

private:
  void work();

  const Windows &windows_;
  uint64_t drawn_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ordered_ = false, stop_ = false; // ordered: the thread has yet to finish batch `number_`
  std::optional<uint64_t> number_;      // the first window of the batch below
  std::vector<int32_t> tokens_, targets_;
  std::exception_ptr error_;
  std::thread thread_; // last: it uses the others
};

// Consecutive windows, row after row, that predict each token of the part but the first exactly once. What the text
// does not fill of the last batch is padded with token 0 and ignored targets.
class AllWindows {
public:
  AllWindows(const Tokens &tokens, Part part) : tokens_(tokens), part_(part), next_(part.begin) {}

  // The number of targets that count; 0 when the part is done.
  int64_t next(std::span<int32_t> tokens, std::span<int32_t> targets);

private:
  const Tokens &tokens_;
  Part part_;
  uint64_t next_;
  std::vector<int32_t> ids_;
};

} // namespace burin::runtime
