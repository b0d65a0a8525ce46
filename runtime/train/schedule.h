// The learning rate over a run.
#pragma once
#include <cstdint>

namespace burin::runtime {

// Linear from 0 to `highest` over `warmup` steps, then half a cosine down to `lowest` at step `last`, constant after.
double cosineRate(int64_t step, double highest, double lowest, int64_t warmup, int64_t last);

} // namespace burin::runtime
