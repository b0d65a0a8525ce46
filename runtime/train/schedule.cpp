// Steps count from 1 in a run, so that the first step already moves and the last one runs at the lowest rate.
#include "train/schedule.h"

#include <cmath>
#include <numbers>

namespace burin::runtime {

double cosineRate(int64_t step, double highest, double lowest, int64_t warmup, int64_t last) {
  if (step < warmup)
    return static_cast<double>(step) / static_cast<double>(warmup) * highest;
  if (step >= last)
    return last <= warmup && step == warmup ? highest : lowest;
  double progress = static_cast<double>(step - warmup) / static_cast<double>(last - warmup);
  return lowest + (1 + std::cos(std::numbers::pi * progress)) / 2 * (highest - lowest);
}

} // namespace burin::runtime
