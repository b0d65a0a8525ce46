// A compiled model made runnable: its buffers, allocated once, and what runs the launches of an entry: the CPU or a
// GPU, whichever the model was compiled for.
//
//   Device device(gpt_model, /*threads=*/0);
//   const burin_entry &loss = device.entry("loss");
//   std::span<int32_t> tokens = device.values<int32_t>(device.input(loss, "tokens"));
//   std::span<float> sum = device.values<float>(device.output(loss, "loss"));
//   ... fill all inputs ...; device.run(loss);
//   device.download(sum); ... sum[0] ...
//
// Entries share the buffers of inputs and outputs: write all inputs of an entry before running it, and read its outputs
// before running another.
//
// All spans are the host's. On a CPU kernels work on the same memory. A GPU has memory of its own: `run` takes the
// inputs along by itself, everything else goes there by `upload` after it was written and comes back by `download`
// before it is read. On a CPU these two do nothing, so that code which calls them is right on both.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "abi/burin.h"
#include "device/machine.h"
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
  // Checks the model and that the machine has what it needs, then allocates all buffers, zeroed. 0 threads: as many as
  // the machine offers.
  Device(const burin_model &model, int threads);

  const burin_model &model() const { return model_; }
  // Of the host.
  int threads() const { return threads_; }
  // Where launches run: "4 threads", "NVIDIA H200".
  std::string name() const { return machine_->name(); }
  // Which of the model's texts runs on a GPU: "sm_80", "sm_90a".
  std::string text() const { return machine_->text(); }
  // All that is allocated there.
  int64_t bytes() const { return machine_->bytes(); }
  // GFLOP/s of the model's products at best; measured, for about `seconds`, on a CPU. 0: not known.
  double peak(double seconds) const { return machine_->peak(seconds); }

  // By name; a missing one is an error that names the model and what was asked for.
  const burin_entry &entry(std::string_view name) const;
  const burin_entry *findEntry(std::string_view name) const;
  const burin_parameter &parameter(std::string_view name) const;
  const burin_tensor &input(const burin_entry &entry, std::string_view name) const;
  const burin_tensor &output(const burin_entry &entry, std::string_view name) const;

  // The host's side of a buffer; null for activations and derived weights of a GPU, which stay there.
  std::byte *buffer(burin_buffer which) const { return host_[which]; }
  // The kernels' side: on a GPU an address there.
  void *base(burin_buffer which) const { return machine_->base(which); }

  // The elements of an argument or result.
  template <typename T> std::span<T> values(const burin_tensor &tensor) const {
    if (tensor.dtype != dtypeOf<T>)
      fail("internal error: '{}' has another element type than the program reads (please report)", tensor.name);
    return {reinterpret_cast<T *>(host_[tensor.buffer] + tensor.offset), tensor.bytes / sizeof(T)};
  }

  // The stored elements of a parameter, of its gradient, or of one of its moments (counted from 0).
  std::span<float> weights(const burin_parameter &parameter) const { return stored(BURIN_PARAMETERS, 0, parameter); }
  std::span<float> gradient(const burin_parameter &parameter) const { return stored(BURIN_GRADIENTS, 0, parameter); }
  std::span<float> moment(const burin_parameter &parameter, int64_t which) const {
    return stored(BURIN_STATE, which * model_.bytes[BURIN_PARAMETERS], parameter);
  }

  // Runs all launches in order. Integer inputs outside their bounds are an error, and then nothing has run. When
  // `seconds` is not empty, it receives the time of each launch. A GPU may still be at it when this returns, but has
  // taken the inputs: they can be written again.
  void run(const burin_entry &entry, std::span<double> seconds = {});
  // The seconds of so many further runs of the entry that ran last, with the same inputs, which a GPU has already: what
  // its launches alone take.
  double repeat(const burin_entry &entry, int64_t times) { return machine_->repeat(entry, times); }
  // Until all launches have run.
  void wait() { machine_->wait(); }
  // Whether `run` returns before all has run.
  bool runsAhead() const { return runsAhead_; }

  // Elements of the spans above: passed on to the machine after they were written, or fetched from it, as the launches
  // so far leave them.
  template <typename T> void upload(std::span<T> values) const {
    if (runsAhead_)
      move(std::as_bytes(values), &Machine::upload);
  }
  template <typename T> void download(std::span<T> values) const {
    if (runsAhead_)
      move(std::as_bytes(values), &Machine::download);
  }
  void download(const float &value) const { download(std::span(&value, 1)); }
  // Zeroes the machine's side of a buffer.
  void clear(burin_buffer which) const { machine_->clear(which); }

  // A number of the spans above as the launches so far leave it, without waiting for them: `answer` does, once.
  Reading ask(const float &value) const;
  float answer(const Reading &reading) const { return machine_->answer(reading); }

  // To be called after the parameters changed by other means than the entry `update`.
  void prepare();

private:
  struct Place {
    burin_buffer buffer;
    size_t offset;
  };
  Place placeOf(std::span<const std::byte> values) const;
  void move(std::span<const std::byte> values, void (Machine::*way)(burin_buffer, size_t, size_t)) const;
  void checkInputs(const burin_entry &entry) const;
  std::span<float> stored(burin_buffer which, int64_t offset, const burin_parameter &parameter) const;

  const burin_model &model_;
  int threads_;
  std::unique_ptr<Machine> machine_;
  bool runsAhead_ = false;
  std::byte *host_[BURIN_NUM_BUFFERS] = {};
};

} // namespace burin::runtime
