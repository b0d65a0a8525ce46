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
    std::fill_n(all, MOST, clock);
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
    if (when < all[warp] || when > clock) // or of before restart()
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
  uint32_t everything(int warp) const { return all[warp]; } // what is older is ordered before this warp's present
  bool overflows() const { return clock + 2 >= (1u << (32 - TAG_CLOCK)); }
  void restart() { clock = 0; }
  // In the midst of a block: all that was is ordered before all that comes, and bears the time 1.
  void rebase() {
    first = 1;
    clock = 2;
    for (auto &row : table)
      std::fill_n(row, MOST, clock);
    std::fill_n(all, MOST, clock);
    std::fill_n(others, MOST, clock);
  }

private:
  void tick() { ++clock; }
  void summarise(int i) {
    all[i] = *std::min_element(table[i], table[i] + count);
    others[i] = 0;
    for (int j = 0; j < count; ++j)
      if (j != i)
        others[i] = std::max(others[i], table[i][j]);
  }

  int count = 0;
  uint32_t clock = 0, first = 0;
  uint32_t table[MOST][MOST] = {}, all[MOST] = {}, others[MOST] = {};
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
    int lane = 0;
  };

  // Of the lanes of a warp whose first thread is `first`; a finding names its lane.
  Report read(const uint64_t *at, Mask mask, uint32_t bytes, int first) {
    const int warp = first / LANES;
    const uint32_t ordered = order.everything(warp), started = order.started();
    const uint64_t cells = bytes >> shift;
    for (Mask rest = mask; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest), thread = first + lane;
      const Tag mine = order.now(thread);
      for (uint64_t cell = at[lane] >> shift, end = cell + cells; cell < end; ++cell) {
        const Tag written = writer[cell], before = reader[cell];
        // Most often written before the last barrier, and waited for.
        if (written >> TAG_CLOCK >= ordered || written >> TAG_CLOCK < started || written & TAG_PENDING) [[unlikely]] {
          if (written >> TAG_CLOCK < started)
            return {UNINITIALISED, written, lane};
          if (written & TAG_PENDING)
            return {PENDING, written, lane};
          if (!order.ordered(written, warp, thread))
            return {RACE_WITH_WRITE, written, lane};
        }
        if (before >> TAG_CLOCK < ordered)
          reader[cell] = mine;
        else if (before >> TAG_CLOCK == mine >> TAG_CLOCK && before & TAG_MANY)
          continue;
        else if (before != mine)
          reader[cell] = joinReaders(before, mine, warp, thread);
      }
    }
    return {};
  }

  Report write(const uint64_t *at, Mask mask, uint32_t bytes, int first, bool pending) {
    const int warp = first / LANES;
    const uint32_t ordered = order.everything(warp), started = order.started();
    const uint64_t cells = bytes >> shift;
    for (Mask rest = mask; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest), thread = first + lane;
      const Tag mine = order.now(thread) | (pending ? TAG_PENDING : 0);
      for (uint64_t cell = at[lane] >> shift, end = cell + cells; cell < end; ++cell) {
        const Tag written = writer[cell], before = reader[cell];
        if (written >> TAG_CLOCK >= started && (written >> TAG_CLOCK >= ordered || written & TAG_PENDING)) {
          if (written & TAG_PENDING)
            return {PENDING, written, lane};
          if (!order.ordered(written, warp, thread))
            return {RACE_WITH_WRITE, written, lane};
        }
        if (before >> TAG_CLOCK >= ordered && !order.ordered(before, warp, thread))
          return {RACE_WITH_READ, before, lane};
        writer[cell] = mine;
      }
    }
    return {};
  }

  // All that the members (a bit a warp) did comes before what they do next.
  void synchronise(uint32_t members) {
    if (order.overflows()) {
      for (Tag &tag : writer)
        tag = tag >> TAG_CLOCK < order.started() ? 0 : Tag(1) << TAG_CLOCK | (tag & (TAG_PENDING | TAG_THREAD));
      std::fill(reader.begin(), reader.end(), 0);
      order.rebase();
    }
    order.synchronise(members);
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
