// A warp as handlers see it: registers of 32 lanes side by side, and the ways to memory.
#pragma once
#include "kernel.h"
#include <bit>
#include <cstring>

namespace simt {

struct Block;

enum Space : uint8_t { GENERIC, GLOBAL, SHARED, LOCAL, PARAM, CONST };

// Generic addresses of what is no device memory.
constexpr uint64_t SHARED_WINDOW = 0x0001'0000'0000'0000, LOCAL_WINDOW = 0x0002'0000'0000'0000,
                   PARAM_WINDOW = 0x0003'0000'0000'0000, WINDOW_MASK = 0x00ff'0000'0000'0000;

// Ends a launch. Which instruction and block it was is added where it is caught.
struct Fault {
  int code; // of the driver
  std::string what;
  int lane = -1;
};

struct PendingCopy {
  uint64_t shared;
  uint32_t group;
  uint8_t lane, bytes;
  std::array<uint8_t, 16> data;
};

class Warp {
public:
  template <class T> T *at(Ref ref) { return reinterpret_cast<T *>(bases[ref >> 31] + (ref & ~CONSTANT)); }
  Mask &predicate(Ref ref) { return *at<Mask>(ref); }

  // Pointers for the lanes of the mask to `bytes` bytes each at the addresses in `ref` plus the instruction's offset,
  // checked.
  void resolve(const Instruction &, Ref address, Mask, uint32_t bytes, bool write, uint8_t **pointers);

  int thread(int lane) const { return index * LANES + lane; }

  uint8_t *bases[2] = {};
  Block *block = nullptr;
  int index = 0;
  // Threads at one place. Those with the least place run first, so that they meet the others where paths join.
  struct Part {
    uint32_t pc;
    Mask mask;
    bool waiting; // for the rest of the warp
  };
  std::vector<Part> parts;
  Mask live = 0, exists = 0;

  // At a barrier, and where; runs otherwise.
  bool atBarrier = false;
  int barrier = 0;
  int64_t barrierCount = 0;
  uint32_t barrierPc = 0;
  Mask barrierPredicate = 0; // of bar.red, by lane
  int barrierResult = 0;

  std::vector<PendingCopy> copies;
  uint32_t copyGroup[LANES] = {}; // groups committed
  Mask carry = 0;                 // CC.CF

  // Where the last global accesses were: bounds as device addresses.
  struct Bounds {
    uint64_t low = 1, high = 0;
  } recent[8];
  uint64_t executed = 0; // instructions x lanes
};

// Calls f(lane) for each lane of the mask; without holes as a loop that compilers turn into vectors.
template <class F> [[gnu::always_inline]] inline void forLanes(Mask mask, F f) {
  if (mask == ALL) {
#pragma GCC ivdep
    for (int i = 0; i < LANES; ++i)
      f(i);
  } else {
    for (Mask rest = mask; rest; rest &= rest - 1)
      f(std::countr_zero(rest));
  }
}

} // namespace simt
