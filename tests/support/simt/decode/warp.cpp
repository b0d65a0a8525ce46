// What the lanes of a warp do together: shuffles, votes, barriers.
#include "../driver_codes.h"
#include "../machine/block.h"
#include "handlers.h"

namespace simt {
namespace {

enum ShuffleMode { UP, DOWN, BUTTERFLY, INDEX };

// r: result, predicate; value, b, c. As the manual's formulas have it.
template <ShuffleMode Mode> void shuffle(Warp &warp, const Instruction &in, Mask mask) {
  uint32_t *const d = warp.at<uint32_t>(in.r[0]);
  const uint32_t *const b = warp.at<uint32_t>(in.r[3]), *const c = warp.at<uint32_t>(in.r[4]);
  uint32_t a[LANES];
  std::memcpy(a, warp.at<uint32_t>(in.r[2]), sizeof a);
  uint32_t result[LANES];
  Mask inRange = 0;
  for (Mask rest = mask; rest; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const int by = b[lane] & 31, clamp = c[lane] & 31, segment = c[lane] >> 8 & 31;
    const int most = (lane & segment) | (clamp & ~segment & 31), least = lane & segment;
    int from = Mode == UP          ? lane - by
               : Mode == DOWN      ? lane + by
               : Mode == BUTTERFLY ? lane ^ by
                                   : least | (by & ~segment & 31);
    if (Mode == UP ? from >= most : from <= most)
      inRange |= Mask(1) << lane;
    else
      from = lane;
    if (!(mask >> from & 1))
      throw Fault{LAUNCH_FAILED, "shfl reads lane " + std::to_string(from) + ", which does not take part", lane};
    result[lane] = a[from];
  }
  forLanes(mask, [&](int i) { d[i] = result[i]; });
  Mask &p = warp.predicate(in.r[1]);
  p = (p & ~mask) | inRange;
}

Instruction &collective(Decoder &to, Handler run, const std::vector<Ref> &defined, const std::vector<Ref> &used,
                        Ref members) {
  Instruction &in = to.emit(run, defined, used);
  in.kind = Kind::COLLECTIVE;
  in.members = members;
  return in;
}

void shuffles(Decoder &to, Modifiers words) {
  if (!words.take("sync"))
    words.unknown();
  std::string mode;
  if (!words.takeAny({"up", "down", "bfly", "idx"}, &mode) || !words.take("b32"))
    words.unknown();
  words.done();
  to.expectOperands(5);
  const bool pair = to.operand(0).kind == ptx::Operand::PAIR;
  const Ref d = to.define(pair ? to.operand(0).items[0] : to.operand(0), 4);
  const Ref p = pair ? to.definePredicate(to.operand(0).items[1]) : to.temporary(1);
  const Handler run = mode == "up"     ? shuffle<UP>
                      : mode == "down" ? shuffle<DOWN>
                      : mode == "bfly" ? shuffle<BUTTERFLY>
                                       : shuffle<INDEX>;
  collective(to, run, {d, p}, {to.use(to.operand(1), 4), to.use(to.operand(2), 4), to.use(to.operand(3), 4)},
             to.use(to.operand(4), 4));
}

enum VoteMode { VOTE_ALL, VOTE_ANY, VOTE_UNIFORM };

template <VoteMode Mode> void vote(Warp &warp, const Instruction &in, Mask mask) {
  const Mask yes = warp.predicate(in.r[1]) & mask;
  const bool result = Mode == VOTE_ALL ? yes == mask : Mode == VOTE_ANY ? yes != 0 : yes == mask || yes == 0;
  Mask &d = warp.predicate(in.r[0]);
  d = (d & ~mask) | (result ? mask : 0);
}

void ballot(Warp &warp, const Instruction &in, Mask mask) {
  const Mask yes = warp.predicate(in.r[1]) & mask;
  uint32_t *const d = warp.at<uint32_t>(in.r[0]);
  forLanes(mask, [&](int i) { d[i] = yes; });
}

void votes(Decoder &to, Modifiers words) {
  if (!words.take("sync"))
    words.unknown();
  to.expectOperands(3);
  if (words.take("ballot")) {
    if (!words.take("b32"))
      words.unknown();
    words.done();
    const Ref p = to.usePredicate(to.operand(1));
    collective(to, ballot, {to.define(to.operand(0), 4)}, {p}, to.use(to.operand(2), 4));
    return;
  }
  std::string mode;
  if (!words.takeAny({"all", "any", "uni"}, &mode) || !words.take("pred"))
    words.unknown();
  words.done();
  const Ref p = to.usePredicate(to.operand(1));
  collective(to,
             mode == "all"   ? vote<VOTE_ALL>
             : mode == "any" ? vote<VOTE_ANY>
                             : vote<VOTE_UNIFORM>,
             {to.definePredicate(to.operand(0))}, {p}, to.use(to.operand(2), 4));
}

void activeMask(Decoder &to, Modifiers words) {
  if (!words.take("b32"))
    words.unknown();
  words.done();
  to.expectOperands(1);
  to.emit(
      [](Warp &warp, const Instruction &in, Mask mask) {
        uint32_t *const d = warp.at<uint32_t>(in.r[0]);
        forLanes(mask, [&](int i) { d[i] = mask; });
      },
      {to.define(to.operand(0), 4)}, {});
}

template <class T, class F> void reduce(Warp &warp, const Instruction &in, Mask mask) {
  const T *const a = warp.at<T>(in.r[1]);
  T result = a[std::countr_zero(mask)];
  for (Mask rest = mask & (mask - 1); rest; rest &= rest - 1)
    result = F::run(result, a[std::countr_zero(rest)]);
  T *const d = warp.at<T>(in.r[0]);
  forLanes(mask, [&](int i) { d[i] = result; });
}
struct ReduceAdd {
  template <class T> static T run(T a, T b) { return (T)((uint32_t)a + (uint32_t)b); }
};
struct ReduceMin {
  template <class T> static T run(T a, T b) { return std::min(a, b); }
};
struct ReduceMax {
  template <class T> static T run(T a, T b) { return std::max(a, b); }
};
struct ReduceAnd {
  template <class T> static T run(T a, T b) { return a & b; }
};
struct ReduceOr {
  template <class T> static T run(T a, T b) { return a | b; }
};
struct ReduceXor {
  template <class T> static T run(T a, T b) { return a ^ b; }
};

void reductions(Decoder &to, Modifiers words) {
  if (!words.take("sync"))
    words.unknown();
  std::string op;
  if (!words.takeAny({"add", "min", "max", "and", "or", "xor"}, &op))
    words.unknown();
  const Type type = words.type();
  words.done();
  to.expectOperands(3);
  Handler run = nullptr;
  if (type == Type::B32)
    run = op == "and"   ? reduce<uint32_t, ReduceAnd>
          : op == "or"  ? reduce<uint32_t, ReduceOr>
          : op == "xor" ? reduce<uint32_t, ReduceXor>
                        : nullptr;
  else if (type == Type::U32)
    run = op == "add"   ? reduce<uint32_t, ReduceAdd>
          : op == "min" ? reduce<uint32_t, ReduceMin>
          : op == "max" ? reduce<uint32_t, ReduceMax>
                        : nullptr;
  else if (type == Type::S32)
    run = op == "add"   ? reduce<int32_t, ReduceAdd>
          : op == "min" ? reduce<int32_t, ReduceMin>
          : op == "max" ? reduce<int32_t, ReduceMax>
                        : nullptr;
  if (!run)
    words.unknown();
  collective(to, run, {to.define(to.operand(0), 4)}, {to.use(to.operand(1), 4)}, to.use(to.operand(2), 4));
}

// Memory accesses of the lanes before come before those after. Of a part of the warp this is taken to be of all: races
// between others may be missed then, none is invented.
void synchroniseWarp(Warp &warp, const Instruction &, Mask) { warp.block->check.synchronise(Mask(1) << warp.index); }

// bar and barrier.
void barriers(Decoder &to, Modifiers words) {
  if (words.take("warp")) {
    if (!words.take("sync"))
      words.unknown();
    words.done();
    to.expectOperands(1);
    collective(to, synchroniseWarp, {}, {}, to.use(to.operand(0), 4));
    return;
  }
  words.take("cta");
  std::string what, op;
  if (!words.takeAny({"sync", "arrive", "red"}, &what))
    words.unknown();
  words.take("aligned"); // the others may come in parts on hardware; here each warp must come as a whole
  int64_t flavour = what == "sync" ? BARRIER_SYNC : BARRIER_ARRIVE;
  if (what == "red") {
    if (!words.takeAny({"popc", "and", "or"}, &op) || !words.take(op == "popc" ? "u32" : "pred"))
      words.unknown();
    flavour = op == "popc" ? BARRIER_POPC : op == "and" ? BARRIER_AND : BARRIER_OR;
  }
  words.done();
  const size_t first = what == "red", last = to.source->operands.size() - (what == "red");
  to.expectOperands(what == "sync" ? 1 : what == "arrive" ? 2 : 3, what == "red" ? 4 : 2);
  const Ref none = to.constant(0, 4);
  const Ref result = what != "red"  ? to.temporary(4)
                     : op == "popc" ? to.define(to.operand(0), 4)
                                    : to.definePredicate(to.operand(0));
  const Ref predicate = what == "red" ? to.usePredicate(to.operand(last)) : none;
  const Ref number = to.use(to.operand(first), 4), threads = first + 1 < last ? to.use(to.operand(first + 1), 4) : none;
  Instruction &in = to.emit(nullptr, {result}, {number, threads, predicate});
  in.kind = Kind::BARRIER;
  in.imm = flavour;
}

} // namespace

void addWarp(Table &table) {
  table["shfl"] = shuffles;
  table["vote"] = votes;
  table["activemask"] = activeMask;
  table["redux"] = reductions;
  table["bar"] = table["barrier"] = barriers;
}

} // namespace simt
