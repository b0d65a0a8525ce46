// Where a window lies is arithmetic; what is in it is read from the mapped files when it is asked for.
#include "data/loader.h"

#include <algorithm>
#include <bit>

#include "error.h"

namespace burin::runtime {

void Windows::fill(uint64_t number, std::span<int32_t> tokens, std::span<int32_t> targets) const {
  std::vector<int32_t> ids(length_ + 1);
  for (size_t row = 0; row < tokens.size(); row += length_) {
    tokens_.read(start(number++), ids);
    std::copy(ids.begin(), ids.end() - 1, tokens.begin() + static_cast<std::ptrdiff_t>(row));
    std::copy(ids.begin() + 1, ids.end(), targets.begin() + static_cast<std::ptrdiff_t>(row));
  }
}

void Windows::next(std::span<int32_t> tokens, std::span<int32_t> targets) {
  fill(drawn_, tokens, targets);
  drawn_ += tokens.size() / length_;
}

uint64_t RandomWindows::start(uint64_t number) const {
  return part().begin + random_.below(part().size() - length(), number);
}

// The smallest even number of bits, at least two, that count all numbers.
Permutation::Permutation(uint64_t count, uint64_t seed) : count_(count), random_(seed, "epochs") {
  while (2 * halfBits_ < static_cast<int>(std::bit_width(count - 1)))
    ++halfBits_;
}

// A Feistel network permutes all numbers of so many bits, whatever its round function is; a number that it puts beyond
// `count` is put through it again until it is not (cycle walking), which keeps it a permutation of those below. There
// are less than four times as many numbers as needed, so a handful of turns is rarely exceeded.
uint64_t Permutation::at(uint64_t index, uint64_t which) const {
  constexpr uint64_t rounds = 6;
  const uint64_t mask = (uint64_t{1} << halfBits_) - 1;
  do {
    uint64_t left = index >> halfBits_, right = index & mask;
    for (uint64_t round = 0; round < rounds; ++round) {
      uint64_t mixed = left ^ (random_.bits(right, which * rounds + round) & mask);
      left = right;
      right = mixed;
    }
    index = left << halfBits_ | right;
  } while (index >= count_);
  return index;
}

EpochWindows::EpochWindows(const Tokens &tokens, Part part, int64_t length, uint64_t seed, uint64_t drawn,
                           uint64_t rank, uint64_t ranks)
    : Windows(tokens, part, length, drawn), order_((part.size() - 1) / static_cast<uint64_t>(length), seed),
      rank_(rank), ranks_(ranks), perEpoch_((part.size() - 1) / static_cast<uint64_t>(length) / ranks) {
  if (perEpoch_ == 0)
    fail("data file {} has fewer windows of {} tokens than there are ranks: {} tokens, {} ranks", tokens.path(), length,
         part.size(), ranks);
}

uint64_t EpochWindows::start(uint64_t number) const {
  uint64_t epoch = number / perEpoch_, place = number % perEpoch_ * ranks_ + rank_;
  return part().begin + order_.at(place, epoch) * length();
}

Prefetch::Prefetch(const Windows &windows, size_t batch)
    : windows_(windows), drawn_(windows.drawn()), tokens_(batch), targets_(batch), thread_([this] { work(); }) {}

Prefetch::~Prefetch() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Prefetch::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ordered_ || stop_; });
    if (stop_)
      return;
    lock.unlock(); // next() touches the batch only when it is not ordered
    std::exception_ptr error;
    try {
      windows_.fill(*number_, tokens_, targets_);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = error;
    ordered_ = false;
    changed_.notify_all();
  }
}

void Prefetch::next(std::span<int32_t> tokens, std::span<int32_t> targets) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !ordered_; });
  if (number_ != drawn_ || tokens.size() != tokens_.size()) {
    windows_.fill(drawn_, tokens, targets);
  } else {
    if (error_)
      std::rethrow_exception(error_);
    std::copy(tokens_.begin(), tokens_.end(), tokens.begin());
    std::copy(targets_.begin(), targets_.end(), targets.begin());
  }
  drawn_ += tokens.size() / windows_.length();
  number_ = drawn_;
  ordered_ = true;
  lock.unlock();
  changed_.notify_all();
}

int64_t AllWindows::next(std::span<int32_t> tokens, std::span<int32_t> targets) {
  uint64_t left = part_.end - std::min(part_.end, next_ + 1);
  auto counted = static_cast<std::ptrdiff_t>(std::min<uint64_t>(left, tokens.size()));
  std::fill(tokens.begin() + counted, tokens.end(), 0);
  std::fill(targets.begin() + counted, targets.end(), ignored);
  if (counted == 0)
    return 0;
  ids_.resize(static_cast<size_t>(counted) + 1);
  tokens_.read(next_, ids_);
  std::copy(ids_.begin(), ids_.end() - 1, tokens.begin());
  std::copy(ids_.begin() + 1, ids_.end(), targets.begin());
  next_ += static_cast<uint64_t>(counted);
  return counted;
}

} // namespace burin::runtime
