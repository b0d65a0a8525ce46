// Finds reads of shared memory that nothing was written to, and accesses of two threads to the same bytes, one of them
// a write, that no barrier orders. Exact for barriers of whole blocks, of some warps and of one warp.
#pragma once
#include "kernel.h"
#include <algorithm>
#include <bit>
#include <vector>

namespace simt {

// When and by which thread something was touched: clock << 12 | flags | thread. The clock ticks at each barrier.
using Tag = uint32_t;
constexpr int TAG_CLOCK = 12;
constexpr Tag TAG_THREAD = 1023;
constexpr Tag TAG_SEVERAL = 1 << 10; // readers: several threads of the thread's warp
constexpr Tag TAG_MANY = 1 << 11;    // readers: threads of several warps
constexpr Tag TAG_PENDING = 1 << 11; // writers: an asynchronous copy that nobody has waited for

// What each warp knows of the others: accesses of warp j before known(i, j) come before whatever warp i does now.
class WarpOrder {
public:
  static constexpr int MOST = 32;

  void begin(int warps) {
    count = warps;
    tick();
    first = clock;
    for (auto &row : table)
      std::fill_n(row, MOST, clock);
    std::fill_n(everything, MOST, clock);
    std::fill_n(others, MOST, clock);
  }

  // Of `members` (a bit a warp), all before comes before all after.
  void synchronise(uint32_t members) {
    tick();
    uint32_t joined[MOST] = {};
    for (int i = 0; i < count; ++i)
      if (members >> i & 1)
        for (int j = 0; j < count; ++j)
          joined[j] = std::max(joined[j], table[i][j]);
    for (int i = 0; i < count; ++i)
      if (members >> i & 1) {
        for (int j = 0; j < count; ++j)
          table[i][j] = members >> j & 1 ? clock : joined[j];
        summarise(i);
      }
  }

  // Whether an access with this tag is ordered before what a thread of `warp` does now.
  bool ordered(Tag tag, int warp, int thread) const {
    const uint32_t when = tag >> TAG_CLOCK;
    if (when < everything[warp])
      return true;
    // Which warps they were is not kept: where barriers are of some warps only, races with these may be missed.
    if (tag & TAG_MANY)
      return when < others[warp];
    if (tag & TAG_SEVERAL)
      return when < table[warp][(tag & TAG_THREAD) / LANES];
    return (tag & TAG_THREAD) == (uint32_t)thread || when < table[warp][(tag & TAG_THREAD) / LANES];
  }

  Tag now(int thread) const { return clock << TAG_CLOCK | (Tag)thread; }
  uint32_t started() const { return first; }
  bool overflows() const { return clock + 2 >= (1u << (32 - TAG_CLOCK)); }
  void restart() { clock = 0; }

private:
  void tick() { ++clock; }
  void summarise(int i) {
    everything[i] = *std::min_element(table[i], table[i] + count);
    others[i] = 0;
    for (int j = 0; j < count; ++j)
      if (j != i)
        others[i] = std::max(others[i], table[i][j]);
  }

  int count = 0;
  uint32_t clock = 0, first = 0;
  uint32_t table[MOST][MOST] = {}, everything[MOST] = {}, others[MOST] = {};
};

class SharedCheck {
public:
  void begin(int64_t bytes, int64_t granule, int warps) {
    size_t needed = (bytes + granule - 1) / granule;
    if (order.overflows()) {
      order.restart();
      writer.assign(writer.size(), 0);
      reader.assign(reader.size(), 0);
    }
    if (writer.size() < needed) {
      writer.resize(needed, 0);
      reader.resize(needed, 0);
    }
    shift = std::countr_zero((uint64_t)granule);
    order.begin(warps);
  }

  enum Finding { FINE, UNINITIALISED, RACE_WITH_WRITE, RACE_WITH_READ, PENDING };
  struct Report {
    Finding finding = FINE;
    Tag other = 0;
  };

  Report read(uint64_t at, uint32_t bytes, int thread) {
    const int warp = thread / LANES;
    const Tag mine = order.now(thread);
    const uint64_t end = (at + bytes) >> shift;
    for (uint64_t cell = at >> shift; cell < end; ++cell) {
      const Tag written = writer[cell];
      if (written >> TAG_CLOCK < order.started())
        return {UNINITIALISED, written};
      if (written & TAG_PENDING)
        return {PENDING, written};
      if (!order.ordered(written, warp, thread))
        return {RACE_WITH_WRITE, written};
      const Tag before = reader[cell];
      if (before == mine)
        continue;
      reader[cell] = joinReaders(before, mine, warp, thread);
    }
    return {};
  }

  Report write(uint64_t at, uint32_t bytes, int thread, bool pending) {
    const int warp = thread / LANES;
    const Tag mine = order.now(thread) | (pending ? TAG_PENDING : 0);
    const uint64_t end = (at + bytes) >> shift;
    for (uint64_t cell = at >> shift; cell < end; ++cell) {
      const Tag written = writer[cell], before = reader[cell];
      if (written >> TAG_CLOCK >= order.started()) {
        if (written & TAG_PENDING)
          return {PENDING, written};
        if (!order.ordered(written, warp, thread))
          return {RACE_WITH_WRITE, written};
      }
      if (before >> TAG_CLOCK >= order.started() && !order.ordered(before, warp, thread))
        return {RACE_WITH_READ, before};
      writer[cell] = mine;
    }
    return {};
  }

  // An asynchronous copy of the thread has arrived.
  void arrived(uint64_t at, uint32_t bytes, int thread) {
    for (uint64_t cell = at >> shift; cell < (at + bytes) >> shift; ++cell)
      writer[cell] = order.now(thread);
  }

  // The tag of one more reader. One that comes after the others stands for them.
  Tag joinReaders(Tag before, Tag mine, int warp, int thread) const {
    if (before >> TAG_CLOCK < order.started() || order.ordered(before, warp, thread))
      return mine;
    const bool same = !(before & TAG_MANY) && (before & TAG_THREAD) / LANES == (uint32_t)warp;
    return mine | (same ? TAG_SEVERAL : TAG_MANY);
  }

  WarpOrder order;

private:
  std::vector<Tag> writer, reader;
  int shift = 2;
};

} // namespace simt
