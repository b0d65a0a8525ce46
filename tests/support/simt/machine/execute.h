// Runs the blocks of a launch on the threads of the system.
#pragma once
#include "block.h"

namespace simt {

struct Outcome {
  int code = 0;
  std::string message;
  uint64_t executed = 0; // instructions x lanes
};

Outcome execute(Launch &, int systemThreads);

} // namespace simt
