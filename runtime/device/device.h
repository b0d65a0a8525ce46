// A compiled model made runnable: its buffers, allocated once, and the loop that runs the launches of an entry.
//
//   Device device(gpt_model, /*threads=*/0);
//   const burin_entry &loss = device.entry("loss");
//   std::span<int32_t> tokens = device.values<int32_t>(device.input(loss, "tokens"));
//   ... fill all inputs ...; device.run(loss);
//   float sum = device.values<float>(device.output(loss, "loss"))[0];
//
// Entries share the buffers of inputs and outputs: write all inputs of an entry before running it, and read its outputs
// before running another.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "abi/burin.h"
#include "device/memory.h"
#include "error.h"

namespace burin::runtime {

constexpr int maxThreads = 1024;

template <typename T> constexpr burin_dtype dtypeOf = BURIN_F32;
template <> inline constexpr burin_dtype dtypeOf<int32_t> = BURIN_I32;

// Refuses a model whose tables this runtime cannot trust: another ABI version, offsets outside their buffers.
void checkModel(const burin_model &model);

class Device {
public:
  // Checks the model and that the CPU has what it needs, then allocates all buffers, zeroed. 0 threads: as many as the
  // machine offers.
  Device(const burin_model &model, int threads);

  const burin_model &model() const { return model_; }
  int threads() const { return threads_; }

  // By name; a missing one is an error that names the model and what was asked for.
  const burin_entry &entry(std::string_view name) const;
  const burin_entry *findEntry(std::string_view name) const;
  const burin_parameter &parameter(std::string_view name) const;
  const burin_tensor &input(const burin_entry &entry, std::string_view name) const;
  const burin_tensor &output(const burin_entry &entry, std::string_view name) const;

  std::byte *buffer(burin_buffer which) const { return memory_[which].data(); }

  // The elements of an argument or result.
  template <typename T> std::span<T> values(const burin_tensor &tensor) const {
    if (tensor.dtype != dtypeOf<T>)
      fail("internal error: '{}' has another element type than the program reads (please report)", tensor.name);
    return {reinterpret_cast<T *>(memory_[tensor.buffer].data() + tensor.offset), tensor.bytes / sizeof(T)};
  }

  // The stored elements of a parameter, of its gradient, or of one of its moments (counted from 0).
  std::span<float> weights(const burin_parameter &parameter) const { return stored(BURIN_PARAMETERS, 0, parameter); }
  std::span<float> gradient(const burin_parameter &parameter) const { return stored(BURIN_GRADIENTS, 0, parameter); }
  std::span<float> moment(const burin_parameter &parameter, int64_t which) const {
    return stored(BURIN_STATE, which * model_.bytes[BURIN_PARAMETERS], parameter);
  }

  // Runs all launches in order. Integer inputs outside their bounds are an error, and then nothing has run. When
  // `seconds` is not empty, it receives the time of each launch.
  void run(const burin_entry &entry, std::span<double> seconds = {});

  // To be called after the parameters changed by other means than the entry `update`.
  void prepare();

private:
  void checkInputs(const burin_entry &entry) const;
  std::span<float> stored(burin_buffer which, int64_t offset, const burin_parameter &parameter) const;

  const burin_model &model_;
  int threads_;
  Memory memory_[BURIN_NUM_BUFFERS];
  Memory scratch_;
  size_t scratchStride_ = 0;
};

} // namespace burin::runtime
