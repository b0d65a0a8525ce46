// Copies of registers, vectors in one register, selection, addresses of other spaces.
#include "handlers.h"

namespace simt {
namespace {

struct Same {
  template <class T> static T run(T a) { return a; }
};

Handler copy(int bytes) {
  return bytes == 2   ? unary<uint16_t, uint16_t, Same>
         : bytes == 4 ? unary<uint32_t, uint32_t, Same>
                      : unary<uint64_t, uint64_t, Same>;
}

void copyPredicate(Warp &warp, const Instruction &in, Mask mask) {
  Mask &d = warp.predicate(in.r[0]);
  d = (d & ~mask) | (warp.predicate(in.r[1]) & mask);
}

// count parts of the lower half each; results may lie where the source does not, by the rules of allocation.
template <class Whole, class Part> void unpack(Warp &warp, const Instruction &in, Mask mask) {
  constexpr int N = sizeof(Whole) / sizeof(Part);
  const Whole *const a = warp.at<Whole>(in.r[N]);
  for (int k = 0; k < N; ++k) {
    Part *const d = warp.at<Part>(in.r[k]);
    forLanes(mask, [&](int i) { d[i] = (Part)(a[i] >> 8 * sizeof(Part) * k); });
  }
}

template <class Whole, class Part> void pack(Warp &warp, const Instruction &in, Mask mask) {
  constexpr int N = sizeof(Whole) / sizeof(Part);
  Whole *const d = warp.at<Whole>(in.r[0]);
  const Part *a[N];
  for (int k = 0; k < N; ++k)
    a[k] = warp.at<Part>(in.r[1 + k]);
  forLanes(mask, [&](int i) {
    Whole all = 0;
    for (int k = 0; k < N; ++k)
      all |= (Whole)a[k][i] << 8 * sizeof(Part) * k;
    d[i] = all;
  });
}

void move(Decoder &to, Modifiers words) {
  const Type type = words.type();
  words.done();
  to.expectOperands(2);
  const ptx::Operand &d = to.operand(0), &a = to.operand(1);
  if (type == Type::PRED) {
    to.emit(copyPredicate, {to.definePredicate(d)}, {to.usePredicate(a)});
    return;
  }
  const int bytes = bytesOf(type);
  if (bytes < 2)
    words.unknown();
  const bool unpacks = d.kind == ptx::Operand::VECTOR, packs = a.kind == ptx::Operand::VECTOR;
  if (unpacks && packs)
    to.error("mov from a vector to a vector");
  if (unpacks || packs) {
    const std::vector<ptx::Operand> &items = unpacks ? d.items : a.items;
    const int part = bytes / (int)items.size();
    if (part < 2 || part * (int)items.size() != bytes || items.size() < 2)
      to.error("a vector of " + std::to_string(items.size()) + " elements in " + std::to_string(8 * bytes) + " bits");
    std::vector<Ref> refs;
    for (const ptx::Operand &item : items)
      refs.push_back(unpacks ? to.define(item, part) : to.use(item, part));
    if (unpacks)
      to.emit(bytes == 4  ? unpack<uint32_t, uint16_t>
              : part == 4 ? unpack<uint64_t, uint32_t>
                          : unpack<uint64_t, uint16_t>,
              refs, {to.use(a, bytes)});
    else
      to.emit(bytes == 4  ? pack<uint32_t, uint16_t>
              : part == 4 ? pack<uint64_t, uint32_t>
                          : pack<uint64_t, uint16_t>,
              {to.define(d, bytes)}, refs);
    return;
  }
  to.emit(copy(bytes), {to.define(d, bytes)}, {to.use(a, bytes)});
}

template <class T> void select(Warp &warp, const Instruction &in, Mask mask) {
  T *const d = warp.at<T>(in.r[0]);
  const T *const a = warp.at<T>(in.r[1]), *const b = warp.at<T>(in.r[2]);
  const Mask chosen = warp.predicate(in.r[3]);
  forLanes(mask, [&](int i) { d[i] = chosen >> i & 1 ? a[i] : b[i]; });
}

void selection(Decoder &to, Modifiers words) {
  const Type type = words.type();
  words.done();
  const int bytes = bytesOf(type);
  if (bytes < 2)
    words.unknown();
  to.expectOperands(4);
  const Ref a = to.use(to.operand(1), bytes), b = to.use(to.operand(2), bytes), chosen = to.usePredicate(to.operand(3));
  to.emit(bytes == 2   ? select<uint16_t>
          : bytes == 4 ? select<uint32_t>
                       : select<uint64_t>,
          {to.define(to.operand(0), bytes)}, {a, b, chosen});
}

template <int Sign> void shiftWindow(Warp &warp, const Instruction &in, Mask mask) {
  uint64_t *const d = warp.at<uint64_t>(in.r[0]);
  const uint64_t *const a = warp.at<uint64_t>(in.r[1]);
  forLanes(mask, [&](int i) { d[i] = a[i] + Sign * (uint64_t)in.imm; });
}

// Device memory and constants have their generic addresses; the other spaces are windows.
bool windowOf(Modifiers &words, uint64_t &window) {
  std::string space;
  if (!words.takeAny({"global", "const", "shared", "shared::cta", "local", "param"}, &space))
    return false;
  window = space.starts_with("shared") ? SHARED_WINDOW
           : space == "local"          ? LOCAL_WINDOW
           : space == "param"          ? PARAM_WINDOW
                                       : 0;
  return true;
}

void convertAddress(Decoder &to, Modifiers words) {
  const bool from = words.take("to");
  uint64_t window = 0;
  if (!windowOf(words, window) || !words.takeAny({"u64"}))
    words.unknown();
  words.done();
  to.expectOperands(2);
  to.emit(from ? shiftWindow<-1> : shiftWindow<1>, {to.define(to.operand(0), 8)}, {to.use(to.operand(1), 8)}).imm =
      (int64_t)window;
}

void inSpace(Decoder &to, Modifiers words) {
  uint64_t window = 0;
  if (!windowOf(words, window))
    words.unknown();
  words.done();
  to.expectOperands(2);
  to.emit(
        [](Warp &warp, const Instruction &in, Mask mask) {
          const uint64_t *const a = warp.at<uint64_t>(in.r[1]);
          Mask result = 0;
          for (int i = 0; i < LANES; ++i)
            result |= Mask((a[i] & WINDOW_MASK) == (uint64_t)in.imm) << i;
          Mask &d = warp.predicate(in.r[0]);
          d = (d & ~mask) | (result & mask);
        },
        {to.definePredicate(to.operand(0))}, {to.use(to.operand(1), 8)})
      .imm = (int64_t)window;
}

} // namespace

void addMove(Table &table) {
  table["mov"] = move;
  table["selp"] = selection;
  table["cvta"] = convertAddress;
  table["isspacep"] = inSpace;
}

} // namespace simt
