// Device memory: one range of addresses that the host cannot read, allocations with red zones between them, and, where
// asked for, what was written by whom.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <string>

namespace simt {

// Who touched some bytes of device memory last: blocks are numbered through all launches, accesses within a block as
// in SharedCheck.
struct GlobalCell {
  std::atomic<uint32_t> writer, reader;
  std::atomic<uint32_t> writerTag, readerTag;
};

class DeviceMemory {
public:
  DeviceMemory(uint64_t bytes, bool check);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;

  // Addresses are of no use on the host.
  static constexpr uint64_t BASE = 0x7'0000'0000;

  struct Allocation {
    uint64_t address, bytes;
    std::string name; // of a module's variable, "" for the program's own
  };

  uint64_t allocate(uint64_t bytes, const std::string &name = ""); // 0: not enough
  bool release(uint64_t address);                                  // false: no allocation begins there
  uint64_t total() const { return size; }
  uint64_t available() const { return size - used; }

  // The allocation that holds the address, or null.
  const Allocation *find(uint64_t address) const;
  bool holds(uint64_t address, uint64_t bytes) const;
  std::string describe(uint64_t address) const; // "8 bytes past the end of the allocation of 64 bytes at 0x..."

  uint8_t *host(uint64_t address) const { return memory + (address - BASE); }
  bool checked() const { return initialised; }

  // Notes of what is initialised, a byte each. Only where checked.
  uint8_t *initialisedAt(uint64_t address) const { return initialised + (address - BASE); }
  void markInitialised(uint64_t address, uint64_t bytes);
  GlobalCell *cells = nullptr; // one for each byte or more, see Kernel::globalGranule

  // Block numbers of a launch: [first, first + blocks), and one that stands for several readers.
  uint32_t reserveBlocks(uint64_t blocks);

private:
  uint8_t *memory = nullptr, *initialised = nullptr;
  uint64_t size, mapped, used = 0;
  uint64_t nextBlock = 1;
  std::map<uint64_t, Allocation> allocations; // by address
};

} // namespace simt
