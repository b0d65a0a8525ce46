// Both loaders read straight from the mapped text into the buffers of the model.
#include "data/loader.h"

#include <algorithm>

namespace burin::runtime {

void RandomWindows::next(std::span<int32_t> tokens, std::span<int32_t> targets) {
  for (size_t row = 0; row < tokens.size(); row += length_) {
    uint64_t start = part_.begin + random_.below(part_.size() - length_, drawn_++);
    for (uint64_t i = 0; i < length_; ++i) {
      tokens[row + i] = text_.token(start + i);
      targets[row + i] = text_.token(start + i + 1);
    }
  }
}

int64_t AllWindows::next(std::span<int32_t> tokens, std::span<int32_t> targets) {
  int64_t counted = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    bool inside = next_ + 1 < part_.end;
    tokens[i] = inside ? text_.token(next_) : 0;
    targets[i] = inside ? text_.token(next_ + 1) : ignored;
    if (inside) {
      ++counted;
      ++next_;
    }
  }
  return counted;
}

} // namespace burin::runtime
