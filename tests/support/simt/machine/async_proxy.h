// What the instructions of warpgroups have under way in a block. They reach shared memory by a way of their own (the
// asynchronous proxy) and end when somebody waits: until then what they read must stay, and their registers are theirs.
#pragma once
#include "shared_check.h"
#include "warp.h"

namespace simt {

struct AsyncProxy {
  static constexpr int CELL = 4; // bytes of shared memory of which is kept who did what

  // One product of a warp.
  struct Product {
    uint32_t group;
    const Instruction *in;
    std::vector<uint32_t> cells; // that it reads
  };
  // What a thread wrote that it has not yet fenced for the asynchronous proxy.
  struct Written {
    uint32_t cell, cells;
    Tag tag;
  };
  struct OfWarp {
    std::vector<Product> products;
    uint32_t group = 0;        // committed
    std::vector<uint8_t> busy; // by place of a register / 64: one of BUSY
    std::vector<Written> written;
    size_t count = 0; // products so far
  };
  enum { FREE, BUSY_SUM, BUSY_LEFT };
  // All warps of a warpgroup come to the same products, with the same descriptions.
  struct Step {
    const Instruction *in;
    uint64_t left, right;
    bool operator==(const Step &) const = default;
  };

  void begin(int64_t sharedBytes, size_t warps, int64_t registerBytes);
  // A write of shared memory that is not the proxy's own. When it is an asynchronous copy: at its start and its
  // arrival.
  void checkWrite(uint64_t at, uint32_t bytes, int lane) const;
  void noteWrite(uint64_t at, uint32_t bytes, Tag by);
  // fence.proxy.async by the lanes of a warp.
  void fence(const Block &, const Warp &, Mask);
  // Thread that wrote there without a fence since; -1: none.
  int unfenced(uint64_t at, uint32_t bytes) const;
  void start(const Kernel &, int warp, Product);
  void wait(const Kernel &, int warp, uint32_t mostGroups);
  // Registers that an instruction touches.
  void checkRegisters(const Block &, const Warp &, const Instruction &) const;
  void checkEnd(const Block &) const;

  std::vector<OfWarp> warps;
  std::vector<std::vector<Step>> steps; // by warpgroup

private:
  std::vector<uint16_t> readers; // by cell: products of warps under way
  std::vector<uint16_t> writer;  // by cell: 1 + thread, 0 where all is fenced
};

} // namespace simt
