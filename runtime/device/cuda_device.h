// The GPU that a program uses, as the driver describes it; no context is made.
#pragma once
#include <cstdint>
#include <string>

#include "abi/burin.h"
#include <string_view>

#include "device/cuda_driver.h"

namespace burin::runtime::cuda {

struct DeviceFacts {
  DeviceIndex index = 0;
  std::string name; // "NVIDIA H200"
  int64_t bytes = 0;
  int capability = 0; // 90 for 9.0
  int multiprocessors = 0;
  int64_t sharedBytes = 0; // that a block can have
  double clock = 0;        // Hz, the highest; 0: not known
  int driver = 0;          // 13000: the CUDA version that it offers, 13.0
};

// The first one; CUDA_VISIBLE_DEVICES makes another one the first. Throws NoDevice.
DeviceFacts findDevice(const Driver &driver);

// "9.0"
std::string capabilityText(int64_t capability);
// Whether a GPU of that capability can run the text.
bool canRun(int64_t capability, const burin_module &module);
// The text of a model that such a GPU runs: the newest of those that it can run, one for it alone before one for all.
// Null where there is none.
const burin_module *textFor(int64_t capability, const burin_model &model);
// "sm_80", "sm_90a"
std::string architectureOf(const burin_module &module);

// FLOP/s of products in `dtype` ("f32" on the ordinary units, "bf16" on matrix units, summed in f32) at the highest
// clock; 0 for a GPU that is not in the table.
double peakFlops(const DeviceFacts &device, std::string_view dtype);

} // namespace burin::runtime::cuda
