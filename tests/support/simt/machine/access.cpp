// From addresses in registers to places on the host, checked.
#include "../driver_codes.h"
#include "block.h"
#include <cstdio>

namespace simt {

static std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
  return text;
}

static std::string access(uint32_t bytes, bool write) {
  return std::string(write ? "write" : "read") + " of " + std::to_string(bytes) + " bytes";
}

// Whether two lanes write the same value to the same place with one instruction, which leaves no doubt.
static bool sameStore(Warp &warp, const Instruction &in, Mask mask, const uint64_t *addresses, int lane, int other) {
  if (!(mask >> other & 1) || addresses[lane] != addresses[other] || !in.width)
    return false;
  for (int k = 0; k < in.count; ++k) {
    const uint8_t *const values = warp.at<uint8_t>(in.r[1 + k]);
    if (std::memcmp(values + lane * in.width, values + other * in.width, in.bytes))
      return false;
  }
  return true;
}

void Block::checkShared(Warp &warp, const Instruction &in, Mask mask, const uint64_t *addresses, uint32_t bytes,
                        bool write) {
  if (kernel->warpgroups && write)
    for (Mask rest = mask; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      async.checkWrite(addresses[lane], bytes, lane);
      async.noteWrite(addresses[lane], bytes, check.order.now(warp.thread(lane)));
    }
  for (Mask rest = mask; rest;) {
    const SharedCheck::Report report = write ? check.write(addresses, rest, bytes, warp.thread(0), false)
                                             : check.read(addresses, rest, bytes, warp.thread(0));
    if (report.finding == SharedCheck::FINE) [[likely]]
      return;
    const int lane = report.lane;
    rest &= ALL << lane << 1; // where it turns out to be none
    const int other = report.other & TAG_THREAD;
    const std::string what = access(bytes, write) + " of shared memory at " + hex(addresses[lane]) + ": ";
    switch (report.finding) {
    case SharedCheck::UNINITIALISED:
      throw Fault{LAUNCH_FAILED, what + "uninitialised, nothing was written there", lane};
    case SharedCheck::PENDING:
      throw Fault{LAUNCH_FAILED,
                  what + "race with the cp.async of " + nameThread(other) + ", which nobody has waited for", lane};
    case SharedCheck::RACE_WITH_WRITE:
      if (write && other / LANES == warp.index && report.other >> TAG_CLOCK == check.order.now(0) >> TAG_CLOCK &&
          sameStore(warp, in, mask, addresses, lane, other % LANES))
        break;
      throw Fault{LAUNCH_FAILED,
                  what + "race with the write of " + nameThread(other) + ", no barrier stands between them", lane};
    default:
      throw Fault{LAUNCH_FAILED,
                  what + "race with the read of " + nameThread(other) +
                      (report.other & (TAG_SEVERAL | TAG_MANY) ? " and others" : "") +
                      ", no barrier stands between them",
                  lane};
    }
  }
}

void Block::checkGlobal(Warp &warp, const Instruction &in, Mask mask, const uint64_t *addresses, uint32_t bytes,
                        bool write) {
  DeviceMemory &memory = *launch->memory;
  const int shift = std::countr_zero((uint64_t)kernel->globalGranule);
  const uint32_t first = launch->firstBlock, several = launch->lastBlock;
  const auto inLaunch = [&](uint32_t block) { return block >= first && block <= several; };
  for (Mask rest = mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest), thread = warp.thread(lane);
    const uint64_t at = addresses[lane];
    const auto fault = [&](const std::string &why) {
      return Fault{LAUNCH_FAILED,
                   access(bytes, write) + " of device memory at " + hex(at) + ": " + why + " (" + memory.describe(at) +
                       ")",
                   lane};
    };
    if (write)
      std::memset(memory.initialisedAt(at), 1, bytes);
    else if (std::memchr(memory.initialisedAt(at), 0, bytes))
      throw fault("uninitialised, nothing was written there");
    const Tag mine = check.order.now(thread);
    const uint64_t begin = (at - DeviceMemory::BASE) >> shift, end = (at + bytes - DeviceMemory::BASE) >> shift;
    for (uint64_t i = begin; i < end; ++i) {
      GlobalCell &cell = memory.cells[i];
      const auto raceInBlock = [&](Tag other) {
        return fault("race with " + nameThread(other & TAG_THREAD) +
                     " of the same block, no barrier stands between them");
      };
      const auto raceOfBlocks = [&](uint32_t other, const char *did) {
        return fault(std::string("race with the ") + did + " of " +
                     (other == several ? "several blocks" : "block " + std::to_string(other - first)) +
                     " of this launch");
      };
      if (write) {
        const uint32_t writer = cell.writer.exchange(number), reader = cell.reader.load();
        if (inLaunch(writer) && writer != number)
          throw raceOfBlocks(writer, "write");
        if (inLaunch(reader) && reader != number)
          throw raceOfBlocks(reader, "read");
        const Tag written = cell.writerTag.load(std::memory_order_relaxed);
        if (writer == number && !check.order.ordered(written, warp.index, thread) &&
            !((written & TAG_THREAD) / LANES == (Tag)warp.index && written >> TAG_CLOCK == mine >> TAG_CLOCK &&
              sameStore(warp, in, mask, addresses, lane, (written & TAG_THREAD) % LANES)))
          throw raceInBlock(written);
        const Tag read = cell.readerTag.load(std::memory_order_relaxed);
        if (reader == number && !check.order.ordered(read, warp.index, thread))
          throw raceInBlock(read);
        cell.writerTag.store(mine, std::memory_order_relaxed);
      } else {
        uint32_t reader = cell.reader.load();
        if (!inLaunch(reader)) {
          cell.readerTag.store(mine, std::memory_order_relaxed);
          if (!cell.reader.compare_exchange_strong(reader, number) && inLaunch(reader))
            cell.reader.store(several);
        } else if (reader == number) {
          const Tag before = cell.readerTag.load(std::memory_order_relaxed);
          cell.readerTag.store(check.joinReaders(before, mine, warp.index, thread), std::memory_order_relaxed);
        } else if (reader != several) {
          cell.reader.store(several);
        }
        const uint32_t writer = cell.writer.load();
        if (inLaunch(writer) && writer != number)
          throw raceOfBlocks(writer, "write");
        if (in.readOnly && writer == number)
          throw fault("read through the read-only path (.nc) of what this launch wrote");
        const Tag written = cell.writerTag.load(std::memory_order_relaxed);
        if (writer == number && !check.order.ordered(written, warp.index, thread))
          throw raceInBlock(written);
      }
    }
  }
}

namespace {

struct Range {
  uint64_t least = ~uint64_t(0), greatest = 0, bits = 0;
};

Range rangeOf(const uint64_t *addresses, Mask mask) {
  Range range;
  const auto one = [&](uint64_t address) {
    range.least = std::min(range.least, address);
    range.greatest = std::max(range.greatest, address);
    range.bits |= address;
  };
  if (mask == ALL)
    for (int i = 0; i < LANES; ++i)
      one(addresses[i]);
  else
    for (Mask rest = mask; rest; rest &= rest - 1)
      one(addresses[std::countr_zero(rest)]);
  return range;
}

} // namespace

void Warp::resolve(const Instruction &in, Ref reference, Mask mask, uint32_t bytes, bool write, uint8_t **pointers) {
  uint64_t at[LANES];
  if (in.narrow) {
    const uint32_t *const from = this->at<uint32_t>(reference);
    forLanes(mask, [&](int i) { at[i] = from[i] + (uint64_t)in.imm; });
  } else {
    const uint64_t *const from = this->at<uint64_t>(reference);
    forLanes(mask, [&](int i) { at[i] = from[i] + (uint64_t)in.imm; });
  }
  uint8_t space = in.space;
  if (space == GENERIC) {
    // Lanes of one window at a time; most often there is one.
    const uint64_t window = at[std::countr_zero(mask)] & WINDOW_MASK;
    Mask same = 0;
    for (int i = 0; i < LANES; ++i)
      same |= Mask((at[i] & WINDOW_MASK) == window) << i;
    if (mask & ~same)
      resolve(in, reference, mask & ~same, bytes, write, pointers);
    mask &= same;
    space = window == SHARED_WINDOW ? SHARED : window == LOCAL_WINDOW ? LOCAL : window == PARAM_WINDOW ? PARAM : GLOBAL;
    forLanes(mask, [&](int i) { at[i] -= window; });
    if (space == GLOBAL)
      forLanes(mask, [&](int i) { at[i] += window; }); // an address that is none is shown as it is
  }
  const Range range = rangeOf(at, mask);
  static const char *const NAMES[] = {"memory",       "device memory", "shared memory",
                                      "local memory", "parameters",    "constant memory"};
  if (range.bits & (bytes - 1)) {
    for (Mask rest = mask; rest; rest &= rest - 1)
      if (const int lane = std::countr_zero(rest); at[lane] & (bytes - 1))
        throw Fault{MISALIGNED_ADDRESS,
                    "misaligned " + access(bytes, write) + " of " + NAMES[space] + " at " + hex(at[lane]) +
                        (space == GLOBAL ? " (" + block->launch->memory->describe(at[lane]) + ")" : ""),
                    lane};
  }
  if (space == GLOBAL || space == CONST) {
    DeviceMemory &memory = *block->launch->memory;
    Bounds &bounds = recent[(uint32_t)in.line % std::size(recent)];
    if (range.least < bounds.low || range.greatest + bytes > bounds.high || range.greatest + bytes < bytes) {
      for (Mask rest = mask; rest; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        const DeviceMemory::Allocation *const found = memory.find(at[lane]);
        if (!found || bytes > found->bytes - (at[lane] - found->address))
          throw Fault{ILLEGAL_ADDRESS,
                      "out-of-bounds " + access(bytes, write) + " of device memory at " + hex(at[lane]) + " (" +
                          memory.describe(found ? found->address + found->bytes : at[lane]) + ")",
                      lane};
        bounds = {found->address, found->address + found->bytes};
      }
    }
    if (memory.checked())
      block->checkGlobal(*this, in, mask, at, bytes, write);
    uint8_t *const base = memory.host(0);
    forLanes(mask, [&](int i) { pointers[i] = base + at[i]; });
    return;
  }
  const uint64_t size = space == SHARED  ? block->sharedBytes
                        : space == LOCAL ? block->kernel->localBytes
                                         : block->parameters.size();
  if (range.greatest >= size || range.greatest + bytes > size) {
    for (Mask rest = mask; rest; rest &= rest - 1)
      if (const int lane = std::countr_zero(rest); at[lane] >= size || at[lane] + bytes > size)
        throw Fault{ILLEGAL_ADDRESS,
                    "out-of-bounds " + access(bytes, write) + " of " + NAMES[space] + " at " + hex(at[lane]) +
                        ", which has " + std::to_string(size) + " bytes",
                    lane};
  }
  if (space == SHARED) {
    block->checkShared(*this, in, mask, at, bytes, write);
    uint8_t *const base = block->shared.data();
    forLanes(mask, [&](int i) { pointers[i] = base + at[i]; });
  } else if (space == LOCAL) {
    uint8_t *const base = block->local.data();
    forLanes(mask, [&](int i) { pointers[i] = base + thread(i) * block->kernel->localBytes + at[i]; });
  } else {
    uint8_t *const base = block->parameters.data();
    forLanes(mask, [&](int i) { pointers[i] = base + at[i]; });
  }
}

} // namespace simt
