// What stands behind a Device: where launches run and where their buffers live. One implementation for each kind of
// machine, `makeCpu` and `makeCuda`.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "abi/burin.h"

namespace burin::runtime {

// A number on its way from the machine to the host, see Device::ask.
struct Reading {
  float value = 0;  // where there was no way to go
  size_t place = 0; // else where it arrives
};

class Machine {
public:
  virtual ~Machine() = default;

  // Where the host reads and writes a buffer; null where it is empty or the host has no business with it.
  virtual std::byte *host(burin_buffer which) const = 0;
  // Where launches do. The same on a CPU.
  virtual void *base(burin_buffer which) const = 0;
  // Whether the two differ: the host's writes must be uploaded, its reads downloaded, and it goes on while launches
  // run.
  virtual bool runsAhead() const = 0;
  // The place among a machine's devices for people to read: "4 threads", "NVIDIA H200".
  virtual std::string name() const = 0;
  // Which of the model's texts runs there, by its architecture: "sm_90a". Empty on a CPU.
  virtual std::string text() const { return {}; }
  // All that is allocated for the model where launches run.
  virtual int64_t bytes() const = 0;

  virtual void run(const burin_entry &entry, std::span<double> seconds) = 0;
  virtual double repeat(const burin_entry &entry, int64_t times) = 0;
  virtual void upload(burin_buffer which, size_t offset, size_t bytes) = 0;
  virtual void download(burin_buffer which, size_t offset, size_t bytes) = 0;
  virtual void clear(burin_buffer which) = 0;
  virtual Reading ask(burin_buffer which, size_t offset) = 0;
  virtual float answer(const Reading &reading) = 0;
  virtual void wait() = 0;

  // GFLOP/s of products at best, measured for about `seconds` where that must be; 0 where it is not known.
  virtual double peak(double seconds) = 0;
};

// Refuses a CPU that lacks what the model was compiled for.
std::unique_ptr<Machine> makeCpu(const burin_model &model, int threads);
// Throws NoDevice when there is no driver, no GPU, one that is too old or has too little memory.
std::unique_ptr<Machine> makeCuda(const burin_model &model);

// What a buffer holds, for messages.
extern const char *const bufferPurposes[BURIN_NUM_BUFFERS];

} // namespace burin::runtime
