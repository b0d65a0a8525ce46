#include "execute.h"
#include <atomic>
#include <mutex>
#include <thread>

namespace simt {

static std::string describe(const Launch &launch, const Block &block, const Fault &fault) {
  const Instruction &in = launch.kernel->code[block.pc];
  return "kernel '" + launch.kernel->name + "', PTX line " + std::to_string(in.line) + ", " + block.position(fault) +
         ": " + fault.what;
}

Outcome execute(Launch &launch, int systemThreads) {
  const int64_t blocks = launch.blocks();
  launch.firstBlock = launch.memory->reserveBlocks((uint64_t)blocks);
  launch.lastBlock = launch.firstBlock + (uint32_t)blocks;
  std::atomic<int64_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  Outcome outcome;
  int64_t failedBlock = blocks;
  const auto work = [&] {
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
  const int count = (int)std::min<int64_t>(systemThreads, blocks);
  std::vector<std::thread> others;
  for (int i = 1; i < count; ++i)
    others.emplace_back(work);
  work();
  for (std::thread &thread : others)
    thread.join();
  return outcome;
}

} // namespace simt
