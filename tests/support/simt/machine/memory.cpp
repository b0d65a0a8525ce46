#include "memory.h"
#include <cstring>
#include <new>
#include <stdexcept>
#include <sys/mman.h>

namespace simt {

constexpr uint64_t ALIGNMENT = 256, RED_ZONE = 256;
// Fresh memory holds what is a NaN in every float type and no useful integer, so that results show where it was used.
constexpr int GARBAGE = 0xff;

// Pages that are not touched take nothing.
static uint8_t *reserve(uint64_t bytes) {
  void *const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw std::bad_alloc();
  return static_cast<uint8_t *>(at);
}

// Red zones take addresses, not memory: what can be allocated is not less for them.
DeviceMemory::DeviceMemory(uint64_t bytes, bool check) : size(bytes), mapped(bytes * 2 + (uint64_t(64) << 20)) {
  memory = reserve(mapped);
  if (check) {
    initialised = reserve(mapped);
    cells = reinterpret_cast<GlobalCell *>(reserve(mapped * sizeof(GlobalCell)));
  }
}

DeviceMemory::~DeviceMemory() {
  munmap(memory, mapped);
  if (initialised) {
    munmap(initialised, mapped);
    munmap(cells, mapped * sizeof(GlobalCell));
  }
}

uint64_t DeviceMemory::allocate(uint64_t bytes, const std::string &name) {
  const uint64_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (rounded < bytes || rounded > available())
    return 0;
  // The first gap that is large enough with a red zone on both sides.
  uint64_t at = BASE + RED_ZONE;
  for (const auto &[address, allocation] : allocations) {
    if (address >= at + rounded + RED_ZONE)
      break;
    at = address + (allocation.bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + RED_ZONE;
  }
  if (at + rounded + RED_ZONE > BASE + mapped)
    return 0;
  allocations[at] = {at, bytes, name};
  used += rounded;
  if (bytes)
    std::memset(host(at), GARBAGE, bytes);
  if (initialised && bytes)
    std::memset(initialisedAt(at), 0, bytes);
  return at;
}

bool DeviceMemory::release(uint64_t address) {
  const auto found = allocations.find(address);
  if (found == allocations.end())
    return false;
  const uint64_t rounded = (found->second.bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  used -= rounded;
  // Whole pages go back to the system.
  const uint64_t page = 4096, offset = address - BASE;
  const uint64_t from = (offset + page - 1) / page * page, to = (offset + rounded) / page * page;
  if (to > from) {
    madvise(memory + from, to - from, MADV_DONTNEED);
    if (initialised) {
      madvise(initialised + from, to - from, MADV_DONTNEED);
      madvise(reinterpret_cast<uint8_t *>(cells) + from * sizeof(GlobalCell), (to - from) * sizeof(GlobalCell),
              MADV_DONTNEED);
    }
  }
  allocations.erase(found);
  return true;
}

const DeviceMemory::Allocation *DeviceMemory::find(uint64_t address) const {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin())
    return nullptr;
  const Allocation &allocation = std::prev(after)->second;
  return address - allocation.address < allocation.bytes ? &allocation : nullptr;
}

bool DeviceMemory::holds(uint64_t address, uint64_t bytes) const {
  if (bytes == 0)
    return true;
  const Allocation *const found = find(address);
  return found && bytes <= found->bytes - (address - found->address);
}

static std::string number(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
  return text;
}

std::string DeviceMemory::describe(uint64_t address) const {
  const auto words = [](const Allocation &allocation) {
    return "the " + (allocation.name.empty() ? "allocation" : "variable '" + allocation.name + "'") + " of " +
           std::to_string(allocation.bytes) + " bytes at " + number(allocation.address);
  };
  if (const Allocation *const found = find(address))
    return "byte " + std::to_string(address - found->address) + " of " + words(*found);
  const auto after = allocations.upper_bound(address);
  const Allocation *const next = after == allocations.end() ? nullptr : &after->second;
  const Allocation *const last = after == allocations.begin() ? nullptr : &std::prev(after)->second;
  const uint64_t past = last ? address - last->address - last->bytes : ~uint64_t(0);
  const uint64_t before = next ? next->address - address : ~uint64_t(0);
  if (!last && !next)
    return "nothing is allocated";
  if (past <= before)
    return std::to_string(past) + " bytes past the end of " + words(*last);
  return std::to_string(before) + " bytes before " + words(*next);
}

void DeviceMemory::markInitialised(uint64_t address, uint64_t bytes) {
  if (initialised)
    std::memset(initialisedAt(address), 1, bytes);
}

uint32_t DeviceMemory::reserveBlocks(uint64_t blocks) {
  // Numbers that begin anew could be taken for those of old launches; the notes go first.
  if (nextBlock + blocks + 1 > ~uint32_t(0)) {
    if (cells)
      madvise(cells, mapped * sizeof(GlobalCell), MADV_DONTNEED);
    nextBlock = 1;
  }
  const uint64_t first = nextBlock;
  nextBlock += blocks + 1;
  return (uint32_t)first;
}

} // namespace simt
