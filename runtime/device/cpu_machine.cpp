// The CPU: where launches meet threads. What a cell computes does not depend on who computes it, so cells are handed
// out freely and results are the same for any number of threads.
#include <omp.h>

#include <algorithm>
#include <cstring>

#include "device/barrier.h"
#include "device/cpu.h"
#include "device/machine.h"
#include "device/memory.h"
#include "device/peak.h"
#include "error.h"

namespace burin::runtime {

const char *const bufferPurposes[BURIN_NUM_BUFFERS] = {"parameters",  "gradients", "optimizer state", "derived weights",
                                                       "activations", "inputs",    "outputs"};

namespace {

// Pieces per thread that a launch is cut into at most: enough to even out slow threads, few enough that handing them
// out costs nothing beside the work.
constexpr int64_t piecesPerThread = 32;

class Cpu : public Machine {
public:
  Cpu(const burin_model &model, int threads) : model_(model), threads_(threads) {
    if (auto missing = missingFeatures(model.features); !missing.empty())
      fail("model '{}' was compiled for the CPU {} and needs {}, which this machine ({}) lacks", model.name, model.cpu,
           fmt::join(missing, ", "), cpuName());
    for (int i = 0; i < BURIN_NUM_BUFFERS; ++i)
      memory_[i] = Memory(static_cast<size_t>(model.bytes[i]), bufferPurposes[i]);
    // A page apart, so that no two threads write to the same cache line or its neighbour.
    scratchStride_ = (static_cast<size_t>(model.scratch_bytes) + 4095) / 4096 * 4096;
    scratch_ = Memory(scratchStride_ * static_cast<size_t>(threads_), "scratch");
  }

  std::byte *host(burin_buffer which) const override { return memory_[which].data(); }
  void *base(burin_buffer which) const override { return memory_[which].data(); }
  bool runsAhead() const override { return false; }
  std::string name() const override { return fmt::format("{} threads", threads_); }
  int64_t bytes() const override {
    auto total = static_cast<int64_t>(scratch_.size());
    for (int64_t buffer : model_.bytes)
      total += buffer;
    return total;
  }

  void run(const burin_entry &entry, std::span<double> seconds) override;
  double repeat(const burin_entry &entry, int64_t times) override {
    const double start = omp_get_wtime();
    for (int64_t i = 0; i < times; ++i)
      run(entry, {});
    return omp_get_wtime() - start;
  }
  void upload(burin_buffer, size_t, size_t) override {}
  void download(burin_buffer, size_t, size_t) override {}
  void clear(burin_buffer which) override {
    if (memory_[which].data())
      std::memset(memory_[which].data(), 0, memory_[which].size());
  }
  Reading ask(burin_buffer which, size_t offset) override {
    return {.value = *reinterpret_cast<const float *>(memory_[which].data() + offset)};
  }
  float answer(const Reading &reading) override { return reading.value; }
  void wait() override {}
  double peak(double seconds) override { return measurePeak(model_.dtype, threads_, seconds); }

private:
  const burin_model &model_;
  int threads_;
  Memory memory_[BURIN_NUM_BUFFERS];
  Memory scratch_;
  size_t scratchStride_ = 0;
};

void Cpu::run(const burin_entry &entry, std::span<double> seconds) {
  void *buffers[BURIN_NUM_BUFFERS];
  for (int i = 0; i < BURIN_NUM_BUFFERS; ++i)
    buffers[i] = memory_[i].data();

  double start = omp_get_wtime();
  Barrier barrier;
  // One parallel region for the whole entry: threads are awake from the first launch to the last.
#pragma omp parallel num_threads(threads_) if (threads_ > 1)
  {
    void *scratch =
        scratch_.data() ? scratch_.data() + scratchStride_ * static_cast<size_t>(omp_get_thread_num()) : nullptr;
    for (int64_t i = 0; i < entry.num_launches; ++i) {
      const burin_launch &launch = entry.launches[i];
      const int64_t piece = std::max<int64_t>(1, launch.cells / (threads_ * piecesPerThread));
#pragma omp for schedule(dynamic, 1) nowait
      for (int64_t first = 0; first < launch.cells; first += piece)
        launch.kernel(buffers, launch.args, first, std::min(first + piece, launch.cells), scratch);
      barrier.wait(omp_get_num_threads()); // what orders the launches
      if (!seconds.empty() && omp_get_thread_num() == 0) {
        double now = omp_get_wtime();
        seconds[static_cast<size_t>(i)] = now - start;
        start = now;
      }
    }
  }
}

} // namespace

std::unique_ptr<Machine> makeCpu(const burin_model &model, int threads) {
  return std::make_unique<Cpu>(model, threads);
}

} // namespace burin::runtime
