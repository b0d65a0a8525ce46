// Runs launches of a model for GPUs through the CUDA driver API: by the emulator of tests/support/simt, which executes
// the model's PTX on the CPU and reports races, accesses out of bounds and reads of what nobody wrote; or by the
// library that BURIN_CUDA_DRIVER names.
//
//   DeviceBuffer buffer(bytes);
//   buffer.write(0, data, bytes);
//   DeviceModel(model).launch(launch, {buffer.address(), ...}, /*blocks=*/3);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/abi/burin.h"

namespace burin::test {

// Why no device can be used; empty when one can.
std::string whyNoDevice();

// Device memory, all bytes 0xff at first: what nobody wrote reads as NaN.
class DeviceBuffer {
public:
  explicit DeviceBuffer(int64_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer &&other) noexcept;
  DeviceBuffer(const DeviceBuffer &) = delete;
  DeviceBuffer &operator=(const DeviceBuffer &) = delete;

  uint64_t address() const { return start; }
  void write(int64_t offset, const void *from, int64_t bytes);
  void read(int64_t offset, void *to, int64_t bytes) const;

private:
  uint64_t start = 0;
};

// The loaded modules of a model.
class DeviceModel {
public:
  // Throws std::runtime_error with the driver's words.
  explicit DeviceModel(const burin_model &model);
  ~DeviceModel();
  DeviceModel(const DeviceModel &) = delete;
  DeviceModel &operator=(const DeviceModel &) = delete;

  // Runs a launch to its end. `buffers`: the address of each burin_buffer.
  void launch(const burin_launch &launch, const std::vector<uint64_t> &buffers, int64_t blocks) const;

private:
  void *module = nullptr;
};

} // namespace burin::test
