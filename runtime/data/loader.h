// Batches of windows from a text: random ones for training, all of them in order for evaluation.
#pragma once
#include <cstdint>
#include <span>

#include "data/text_file.h"
#include "train/random.h"

namespace burin::runtime {

constexpr int32_t ignored = -1; // a target that does not count

// Random windows with replacement, starts uniform. Window n is a function of the seed and n alone, so the number drawn
// so far is the loader's whole state.
class RandomWindows {
public:
  RandomWindows(const TextFile &text, Part part, int64_t length, uint64_t seed, uint64_t drawn = 0)
      : text_(text), part_(part), length_(static_cast<uint64_t>(length)), random_(seed, "windows"), drawn_(drawn) {}

  // Fills whole rows of `length` tokens and the tokens that follow each of them.
  void next(std::span<int32_t> tokens, std::span<int32_t> targets);

  uint64_t drawn() const { return drawn_; }
  void seek(uint64_t drawn) { drawn_ = drawn; }

private:
  const TextFile &text_;
  Part part_;
  uint64_t length_;
  Random random_;
  uint64_t drawn_;
};

// Consecutive windows, row after row, that predict each token of the part but the first exactly once. What the text
// does not fill of the last batch is padded with token 0 and ignored targets.
class AllWindows {
public:
  AllWindows(const TextFile &text, Part part) : text_(text), part_(part), next_(part.begin) {}

  // The number of targets that count; 0 when the part is done.
  int64_t next(std::span<int32_t> tokens, std::span<int32_t> targets);

private:
  const TextFile &text_;
  Part part_;
  uint64_t next_;
};

} // namespace burin::runtime
