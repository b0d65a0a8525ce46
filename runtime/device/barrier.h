// Where the threads of a run wait for each other between launches.
#pragma once
#include <atomic>
#include <cstdint>

namespace burin::runtime {

// Waiting threads look for some microseconds, since the next launch mostly begins at once, and then sleep. OpenMP's own
// barrier looks for milliseconds: beside another busy program, a thread that looks keeps its partner off the CPU.
class Barrier {
public:
  // Until `threads` threads have called it.
  void wait(int threads) {
    uint32_t turn = turn_.load(std::memory_order_relaxed); // does not advance before this thread has arrived
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads) {
      arrived_.store(0, std::memory_order_relaxed);
      turn_.store(turn + 1, std::memory_order_release);
      turn_.notify_all();
      return;
    }
    constexpr int looks = 2000; // about 50 us
    for (int look = 0; look < looks; ++look) {
      if (turn_.load(std::memory_order_acquire) != turn)
        return;
      pause();
    }
    turn_.wait(turn, std::memory_order_acquire);
  }

private:
  // Leaves the core to its other hardware thread for a moment.
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  alignas(64) std::atomic<int> arrived_ = 0;
  alignas(64) std::atomic<uint32_t> turn_ = 0;
};

} // namespace burin::runtime
