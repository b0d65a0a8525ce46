// The life of a block: warps run one after the other, each up to a barrier or its end; barriers that are complete let
// them go on. Within a warp, threads that took different ways run one way at a time.
#include "block.h"
#include "../driver_codes.h"

namespace simt {

static void fillSpecial(const Block &block, const Warp &warp, int special, uint32_t *to) {
  const Launch &launch = *block.launch;
  const uint32_t *const size = launch.threads;
  for (int lane = 0; lane < LANES; ++lane) {
    const uint32_t thread = warp.thread(lane);
    const auto value = [&]() -> uint32_t {
      switch (special) {
      case TID_X:
        return thread % size[0];
      case TID_Y:
        return thread / size[0] % size[1];
      case TID_Z:
        return thread / size[0] / size[1];
      case NTID_X:
      case NTID_Y:
      case NTID_Z:
        return size[special - NTID_X];
      case CTAID_X:
      case CTAID_Y:
      case CTAID_Z:
        return block.index[special - CTAID_X];
      case NCTAID_X:
      case NCTAID_Y:
      case NCTAID_Z:
        return launch.grid[special - NCTAID_X];
      case LANEID:
        return lane;
      case WARPID:
        return warp.index;
      case NWARPID:
        return block.warps.size();
      case LANEMASK_EQ:
        return Mask(1) << lane;
      case LANEMASK_LT:
        return (Mask(1) << lane) - 1;
      case LANEMASK_LE:
        return (Mask(2) << lane) - 1;
      case LANEMASK_GT:
        return ~((Mask(2) << lane) - 1);
      case LANEMASK_GE:
        return ~((Mask(1) << lane) - 1);
      case NSMID:
        return 1;
      case DYNAMIC_SMEM_SIZE:
        return launch.dynamicShared;
      case TOTAL_SMEM_SIZE:
        return block.sharedBytes;
      default:
        return 0;
      }
    };
    to[lane] = value();
  }
}

void Block::begin(const Launch &of, int64_t at) {
  launch = &of;
  kernel = of.kernel;
  index[0] = at % of.grid[0];
  index[1] = at / of.grid[0] % of.grid[1];
  index[2] = at / of.grid[0] / of.grid[1];
  number = of.firstBlock + (uint32_t)at;
  const int threads = of.threadsOfBlock(), count = (threads + LANES - 1) / LANES;
  sharedBytes = kernel->staticShared + of.dynamicShared;
  if ((int64_t)shared.size() < sharedBytes)
    shared.resize(sharedBytes);
  if ((int64_t)local.size() < kernel->localBytes * threads)
    local.resize(kernel->localBytes * threads);
  parameters = of.parameters;
  check.begin(sharedBytes, kernel->sharedGranule, count);
  const int64_t stride = (kernel->registerBytes + 127) / 64 * 64;
  if ((int64_t)registers.size() < stride * count + 64)
    registers.resize(stride * count + 64);
  warps.resize(count);
  uint8_t *const aligned = registers.data() + (64 - reinterpret_cast<uintptr_t>(registers.data()) % 64) % 64;
  for (int w = 0; w < count; ++w) {
    Warp &warp = warps[w];
    warp.bases[0] = aligned + stride * w;
    warp.bases[1] = const_cast<uint8_t *>(kernel->constants.data());
    warp.block = this;
    warp.index = w;
    const int lanes = std::min(LANES, threads - w * LANES);
    warp.live = warp.exists = lanes == LANES ? ALL : (Mask(1) << lanes) - 1;
    warp.parts.assign(1, {0, warp.live, false});
    warp.atBarrier = false;
    warp.copies.clear();
    std::fill(std::begin(warp.copyGroup), std::end(warp.copyGroup), 0);
    std::fill(std::begin(warp.recent), std::end(warp.recent), Warp::Bounds());
    for (const auto &[special, ref] : kernel->specials)
      fillSpecial(*this, warp, special, warp.at<uint32_t>(ref));
  }
  if (kernel->warpgroups)
    async.begin(sharedBytes, warps.size(), kernel->registerBytes);
  std::fill(std::begin(arrived), std::end(arrived), 0);
  std::fill(std::begin(arrivedWarps), std::end(arrivedWarps), 0);
}

std::string Block::nameThread(int thread) const {
  const uint32_t *const size = launch->threads;
  return "thread (" + std::to_string(thread % size[0]) + ", " + std::to_string(thread / size[0] % size[1]) + ", " +
         std::to_string(thread / size[0] / size[1]) + ")";
}

std::string Block::position(const Fault &fault) const {
  std::string text =
      "block (" + std::to_string(index[0]) + ", " + std::to_string(index[1]) + ", " + std::to_string(index[2]) + ")";
  if (fault.lane >= 0 && running)
    text += ", " + nameThread(running->thread(fault.lane));
  return text;
}

void Block::run() {
  for (;;) {
    bool done = true, progress = false;
    for (Warp &warp : warps)
      if (warp.live && !warp.atBarrier) {
        runWarp(warp);
        progress = true;
      }
    for (const Warp &warp : warps)
      done &= !warp.live;
    if (done)
      break;
    bool released = false;
    for (int id = 0; id < 16; ++id)
      released |= releaseOne(id);
    if (!released && !progress)
      deadlock();
  }
  if (kernel->warpgroups)
    async.checkEnd(*this);
}

// Every warp that lives waits, and no barrier has what it waits for.
void Block::deadlock() {
  std::string text = "divergent barrier, the block hangs:";
  for (const Warp &warp : warps)
    if (warp.live) {
      running = &warp;
      pc = warp.barrierPc;
      text += " warp " + std::to_string(warp.index) + " waits at barrier " + std::to_string(warp.barrier) +
              (warp.barrierCount ? " for " + std::to_string(warp.barrierCount) + " threads" : "") + " on line " +
              std::to_string(kernel->code[warp.barrierPc].line) + ";";
    }
  text.pop_back();
  throw Fault{LAUNCH_FAILED, text, 0};
}

bool Block::releaseOne(int id) {
  Mask waiting = 0, alive = 0;
  int64_t threads = arrived[id], expected = 0;
  const Warp *first = nullptr;
  for (const Warp &warp : warps) {
    alive |= Mask(warp.live != 0) << warp.index;
    if (!warp.atBarrier || warp.barrier != id)
      continue;
    waiting |= Mask(1) << warp.index;
    threads += LANES;
    expected = std::max(expected, warp.barrierCount);
    running = &warp;
    pc = warp.barrierPc;
    if (!first)
      first = &warp;
    // bar.sync without a count is of the whole block: all of it must come to the same place.
    if (warp.barrierPc != first->barrierPc && !warp.barrierCount && !first->barrierCount)
      throw Fault{LAUNCH_FAILED,
                  "divergent barrier: warp " + std::to_string(warp.index) + " waits here, warp " +
                      std::to_string(first->index) + " on line " + std::to_string(kernel->code[first->barrierPc].line),
                  0};
  }
  if (!waiting || (expected ? threads < expected : waiting != alive))
    return false;
  if (expected && threads > expected)
    throw Fault{LAUNCH_FAILED,
                "barrier " + std::to_string(id) + " is for " + std::to_string(expected) + " threads, " +
                    std::to_string(threads) + " came",
                0};
  uint32_t sum = 0;
  bool every = true, any = false;
  for (const Warp &warp : warps)
    if (waiting >> warp.index & 1) {
      sum += std::popcount(warp.barrierPredicate & warp.live);
      every &= (warp.barrierPredicate & warp.live) == warp.live;
      any |= (warp.barrierPredicate & warp.live) != 0;
    }
  for (Warp &warp : warps)
    if (waiting >> warp.index & 1) {
      warp.atBarrier = false;
      const Instruction &in = kernel->code[warp.barrierPc];
      if (in.imm == BARRIER_POPC)
        forLanes(warp.live, [&](int i) { warp.at<uint32_t>(in.r[0])[i] = sum; });
      else if (in.imm == BARRIER_AND || in.imm == BARRIER_OR) {
        Mask &to = warp.predicate(in.r[0]);
        to = (to & ~warp.live) | ((in.imm == BARRIER_AND ? every : any) ? warp.live : 0);
      }
      warp.parts[0].pc = warp.barrierPc + 1;
    }
  check.synchronise(waiting | arrivedWarps[id]);
  arrived[id] = 0;
  arrivedWarps[id] = 0;
  return true;
}

void Block::runWarp(Warp &warp) {
  running = &warp;
  const Instruction *const code = kernel->code.data();
  std::vector<Warp::Part> &parts = warp.parts;
  const bool warpgroups = kernel->warpgroups;
  uint64_t count = 0;
  while (!parts.empty()) {
    // The part that is furthest behind, with all that stand at the same place.
    size_t chosen = parts.size();
    for (size_t i = 0; i < parts.size(); ++i)
      if (!parts[i].waiting && (chosen == parts.size() || parts[i].pc < parts[chosen].pc))
        chosen = i;
    if (chosen == parts.size())
      stuck(warp);
    std::swap(parts[chosen], parts[0]);
    uint32_t at = parts[0].pc, limit = ~uint32_t(0);
    for (size_t i = 1; i < parts.size();)
      if (parts[i].pc == at) {
        parts[0].mask |= parts[i].mask;
        parts[i] = parts.back();
        parts.pop_back();
      } else {
        if (parts[i].pc > at)
          limit = std::min(limit, parts[i].pc);
        ++i;
      }
    const Mask mask = parts[0].mask;
    const bool alone = parts.size() == 1;
    for (;;) {
      if (at >= limit) {
        parts[0].pc = at;
        break;
      }
      const Instruction &in = code[at];
      Mask active = mask;
      if (in.guard != NONE) {
        const Mask guard = warp.predicate(in.guard);
        active &= in.guardNegated ? ~guard : guard;
      }
      pc = at;
      count += std::popcount(active);
      if (warpgroups && active && !async.warps[warp.index].products.empty()) [[unlikely]]
        async.checkRegisters(*this, warp, in);
      if (in.kind == Kind::PLAIN) [[likely]] {
        if (active)
          in.run(warp, in, active);
        ++at;
        continue;
      }
      if (in.kind == Kind::JUMP) {
        if (!active) {
          ++at;
          continue;
        }
        if (active == mask) {
          at = in.target;
          if (alone)
            continue;
          parts[0].pc = at; // others may wait there
          break;
        }
        parts[0] = {in.target, active, false};
        parts.push_back({at + 1, mask & ~active, false});
        break;
      }
      if (!active) {
        ++at;
        continue;
      }
      if (in.kind == Kind::COLLECTIVE || in.kind == Kind::BARRIER) {
        const Mask needed = in.kind == Kind::BARRIER ? warp.live
                            : in.members == NONE     ? warp.exists
                                                     : warp.at<Mask>(in.members)[std::countr_zero(active)];
        if (needed & ~warp.live)
          throw Fault{LAUNCH_FAILED,
                      "waits for lanes that have exited or are not there, mask " + std::to_string(needed & ~warp.live),
                      std::countr_zero(active)};
        if (active & ~needed)
          throw Fault{LAUNCH_FAILED, "the lane is not in the mask of those that take part",
                      std::countr_zero(active & ~needed)};
        if (active != needed) {
          // Those that came wait for the others.
          parts[0] = {at, active, true};
          if (mask & ~active)
            parts.push_back({at + 1, mask & ~active, false});
          break;
        }
        if (in.kind == Kind::COLLECTIVE) {
          in.run(warp, in, active);
          ++at;
          continue;
        }
        const int lane = std::countr_zero(active);
        warp.barrier = warp.at<uint32_t>(in.r[1])[lane];
        warp.barrierCount = warp.at<uint32_t>(in.r[2])[lane];
        if (warp.barrier > 15 || warp.barrierCount % LANES)
          throw Fault{LAUNCH_FAILED,
                      "barrier " + std::to_string(warp.barrier) + " for " + std::to_string(warp.barrierCount) +
                          " threads; expected a number below 16 and a multiple of 32",
                      lane};
        if (in.imm == BARRIER_ARRIVE) {
          arrived[warp.barrier] += LANES;
          arrivedWarps[warp.barrier] |= Mask(1) << warp.index;
          ++at;
          continue;
        }
        warp.atBarrier = true;
        warp.barrierPc = at;
        if (in.imm != BARRIER_SYNC)
          warp.barrierPredicate = warp.predicate(in.r[3]);
        parts[0].pc = at;
        executed += count;
        return;
      }
      if (in.kind == Kind::SWITCH) {
        const std::vector<uint32_t> &targets = kernel->targets[in.imm];
        const uint32_t *const chosenTarget = warp.at<uint32_t>(in.r[0]);
        parts[0] = parts.back();
        parts.pop_back();
        if (mask & ~active)
          parts.push_back({at + 1, mask & ~active, false});
        for (Mask rest = active; rest;) {
          const int lane = std::countr_zero(rest);
          const uint32_t which = chosenTarget[lane];
          if (which >= targets.size())
            throw Fault{LAUNCH_FAILED,
                        "brx.idx with index " + std::to_string(which) + " of " + std::to_string(targets.size()) +
                            " targets",
                        lane};
          Mask same = 0;
          for (Mask m = rest; m; m &= m - 1)
            if (chosenTarget[std::countr_zero(m)] == which)
              same |= m & -m;
          parts.push_back({targets[which], same, false});
          rest &= ~same;
        }
        break;
      }
      if (in.kind == Kind::TRAP)
        throw Fault{LAUNCH_FAILED, "trap", std::countr_zero(active)};
      // EXIT. Who waits for those that leave need not any more.
      if (warpgroups && !async.warps[warp.index].products.empty())
        throw Fault{LAUNCH_FAILED, "the thread ends while wgmma is under way: nobody has waited for it",
                    std::countr_zero(active)};
      warp.live &= ~active;
      for (Warp::Part &part : parts)
        part.waiting = false;
      parts[0] = {at + 1, mask & ~active, false};
      if (!parts[0].mask) {
        parts[0] = parts.back();
        parts.pop_back();
      }
      break;
    }
  }
  executed += count;
}

// All parts of a warp wait for lanes that wait elsewhere.
void Block::stuck(const Warp &warp) {
  std::string text = "divergence, the warp hangs:";
  for (const Warp::Part &part : warp.parts) {
    char mask[16];
    std::snprintf(mask, sizeof mask, "0x%08x", part.mask);
    text += std::string(" lanes ") + mask + " wait on line " + std::to_string(kernel->code[part.pc].line) + ";";
  }
  text.pop_back();
  pc = warp.parts[0].pc;
  throw Fault{LAUNCH_FAILED, text, std::countr_zero(warp.parts[0].mask)};
}

} // namespace simt
