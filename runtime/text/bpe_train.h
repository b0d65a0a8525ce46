// Learning the merges of byte-level BPE from text: of all neighbours within pre-tokens the most frequent pair becomes a
// token, over and over. Of equally frequent pairs the greater one is taken, comparing the bytes of its first token,
// then of its second. So the result depends on nothing but the texts: not on threads, nor on the order of files.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "text/bpe.h"

namespace burin::runtime {

struct TrainBpe {
  int64_t vocab = 0;                   // 256 bytes, the merges, the special tokens; ids in this order
  std::vector<std::string> specials{}; // cut out of the text first, and not learnt from
  std::string pattern = gpt2Pattern;
  int threads = 1;
  // Bytes that may be held of the texts: what is read at once, and the different pre-tokens with their counts (as many
  // again for a moment, until threads that count some of the same have handed theirs in).
  uint64_t memory = uint64_t{2} << 30;
  // Told now and then: which part, and how far it is.
  std::function<void(const char *part, uint64_t done, uint64_t of)> progress = {};
};

// May have fewer tokens than asked for, where no pair is left.
BpeModel trainBpe(const std::vector<std::string> &paths, const TrainBpe &options);

// How often each pre-token occurs; the second half of the training.
using PreTokenCounts = std::vector<std::pair<std::string, uint64_t>>;
BpeModel learnMerges(const PreTokenCounts &counts, const TrainBpe &options);

} // namespace burin::runtime
