// How a run starts: every parameter drawn from one seed.
#pragma once
#include <cstdint>

#include "device/device.h"

namespace burin::runtime {

// Each parameter draws from a stream of its own, named after it: adding a layer leaves the others as they were. Clears
// the moments and prepares the model.
void initialize(Device &device, uint64_t seed);

} // namespace burin::runtime
