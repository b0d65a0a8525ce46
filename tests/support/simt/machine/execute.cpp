#include "execute.h"
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace simt {
namespace {

// Threads of the system that help with a launch if they wake in time. Who calls does the work meanwhile and waits for
// none that has not begun, so that small launches on a busy machine cost nothing more.
class Helpers {
public:
  ~Helpers() {
    {
      const std::lock_guard lock(mutex);
      ends = true;
    }
    wake.notify_all();
    for (std::thread &thread : threads)
      thread.join();
  }

  void run(const std::function<void()> &work, int helpers) {
    {
      const std::lock_guard lock(mutex);
      while ((int)threads.size() < helpers)
        threads.emplace_back([this] { help(); });
      job = &work;
      places = helpers;
    }
    if (helpers)
      wake.notify_all();
    work();
    std::unique_lock lock(mutex);
    job = nullptr;
    idle.wait(lock, [&] { return active == 0; });
  }

private:
  void help() {
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [&] { return ends || (job && places > 0); });
      if (ends)
        return;
      const std::function<void()> &work = *job;
      --places;
      ++active;
      lock.unlock();
      work();
      lock.lock();
      if (--active == 0)
        idle.notify_all();
    }
  }

  std::mutex mutex;
  std::condition_variable wake, idle;
  std::vector<std::thread> threads;
  const std::function<void()> *job = nullptr;
  int places = 0, active = 0;
  bool ends = false;
};

std::string describe(const Launch &launch, const Block &block, const Fault &fault) {
  const Instruction &in = launch.kernel->code[block.pc];
  return "kernel '" + launch.kernel->name + "', PTX line " + std::to_string(in.line) + ", " + block.position(fault) +
         ": " + fault.what;
}

} // namespace

Outcome execute(Launch &launch, int systemThreads) {
  static Helpers helpers;
  const int64_t blocks = launch.blocks();
  launch.firstBlock = launch.memory->reserveBlocks((uint64_t)blocks);
  launch.lastBlock = launch.firstBlock + (uint32_t)blocks;
  std::atomic<int64_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  Outcome outcome;
  int64_t failedBlock = blocks;
  const std::function<void()> work = [&] {
    // Kept, so that registers and shadow memory are there for the next launch.
    static thread_local Block block;
    uint64_t executed = 0;
    while (!failed) {
      const int64_t index = next++;
      if (index >= blocks)
        break;
      block.begin(launch, index);
      block.executed = 0;
      try {
        block.run();
      } catch (const Fault &fault) {
        const std::lock_guard lock(mutex);
        failed = true;
        // Of several faults the one of the first block is told.
        if (index < failedBlock) {
          failedBlock = index;
          outcome.code = fault.code;
          outcome.message = describe(launch, block, fault);
        }
      }
      executed += block.executed;
    }
    const std::lock_guard lock(mutex);
    outcome.executed += executed;
  };
  helpers.run(work, (int)std::min<int64_t>(systemThreads, blocks) - 1);
  return outcome;
}

} // namespace simt
