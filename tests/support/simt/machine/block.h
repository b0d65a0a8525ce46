// A block of threads while it runs: its warps, its memories, and what is checked.
#pragma once
#include "async_proxy.h"
#include "memory.h"
#include "shared_check.h"
#include "warp.h"

namespace simt {

struct Launch {
  const Kernel *kernel = nullptr;
  DeviceMemory *memory = nullptr;
  uint32_t grid[3] = {1, 1, 1}, threads[3] = {1, 1, 1};
  int64_t dynamicShared = 0;
  std::vector<uint8_t> parameters;
  uint32_t firstBlock = 0, lastBlock = 0; // numbers for GlobalCell; the last one stands for several readers
  int64_t blocks() const { return int64_t(grid[0]) * grid[1] * grid[2]; }
  int threadsOfBlock() const { return int(threads[0] * threads[1] * threads[2]); }
};

// Kept from block to block by the thread of the system that runs them.
struct Block {
  void begin(const Launch &, int64_t index);
  void run(); // throws Fault

  std::string position(const Fault &) const; // "block (1, 0, 0), thread (5, 0, 0)"
  std::string nameThread(int thread) const;

  const Launch *launch = nullptr;
  const Kernel *kernel = nullptr;
  uint32_t index[3] = {};
  uint32_t number = 0; // of GlobalCell
  std::vector<Warp> warps;
  std::vector<uint8_t> shared, local, parameters;
  int64_t sharedBytes = 0;
  SharedCheck check;
  AsyncProxy async; // where the kernel has instructions of warpgroups
  uint64_t executed = 0;

  const Warp *running = nullptr; // where a fault came from
  uint32_t pc = 0;

  // Accesses of device memory under BURIN_SIMT_CHECK=global.
  void checkGlobal(Warp &, const Instruction &, Mask, const uint64_t *addresses, uint32_t bytes, bool write);
  void checkShared(Warp &, const Instruction &, Mask, const uint64_t *addresses, uint32_t bytes, bool write);

private:
  void runWarp(Warp &);
  bool releaseOne(int id); // barrier, if it is complete
  [[noreturn]] void deadlock();
  [[noreturn]] void stuck(const Warp &);

  std::vector<uint8_t> registers;
  int64_t arrived[16] = {}; // bar.arrive, threads
  Mask arrivedWarps[16] = {};
};

} // namespace simt
