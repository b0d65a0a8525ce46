// Whole numbers and bits.
#include "handlers.h"
#include <limits>
#include <type_traits>

namespace simt {
namespace {

template <class T> using U = std::make_unsigned_t<T>;

// Of smaller types C++ computes in int, which is signed: products of two 16-bit numbers must not overflow there.
template <class T> T wrap(uint64_t value) { return (T)value; }

struct Add {
  template <class T> static T run(T a, T b) { return wrap<T>((uint64_t)a + (uint64_t)b); }
};
struct Subtract {
  template <class T> static T run(T a, T b) { return wrap<T>((uint64_t)a - (uint64_t)b); }
};
struct AddSaturated {
  static int32_t run(int32_t a, int32_t b) {
    return (int32_t)std::min<int64_t>(std::max<int64_t>((int64_t)a + b, INT32_MIN), INT32_MAX);
  }
};
struct SubtractSaturated {
  static int32_t run(int32_t a, int32_t b) {
    return (int32_t)std::min<int64_t>(std::max<int64_t>((int64_t)a - b, INT32_MIN), INT32_MAX);
  }
};
struct MultiplyLow {
  template <class T> static T run(T a, T b) { return wrap<T>((uint64_t)a * (uint64_t)b); }
};
struct MultiplyHigh {
  template <class T> static T run(T a, T b) {
    using W = typename Wider<T>::Type;
    return (T)((W)a * (W)b >> 8 * sizeof(T));
  }
};
struct MultiplyWide {
  template <class T> static typename Wider<T>::Type run(T a, T b) {
    using W = typename Wider<T>::Type;
    return (W)((W)a * (W)b);
  }
};
struct MultiplyAddLow {
  template <class T> static T run(T a, T b, T c) { return wrap<T>((uint64_t)a * (uint64_t)b + (uint64_t)c); }
};
struct MultiplyAddHigh {
  template <class T> static T run(T a, T b, T c) { return Add::run(MultiplyHigh::run(a, b), c); }
};
struct MultiplyAddWide {
  template <class T> static typename Wider<T>::Type run(T a, T b, typename Wider<T>::Type c) {
    return Add::run(MultiplyWide::run(a, b), c);
  }
};
// What hardware gives for a division by zero: all bits, and the dividend as the remainder.
struct Divide {
  template <class T> static T run(T a, T b) {
    if (b == 0)
      return (T)~T(0);
    if constexpr (std::is_signed_v<T>)
      if (b == -1)
        return Subtract::run(T(0), a);
    return (T)(a / b);
  }
};
struct Remainder {
  template <class T> static T run(T a, T b) {
    if (b == 0)
      return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1)
        return 0;
    return (T)(a % b);
  }
};
struct Absolute {
  template <class T> static T run(T a) {
    if constexpr (std::is_signed_v<T>)
      return a < 0 ? Subtract::run(T(0), a) : a;
    return a;
  }
};
struct Negate {
  template <class T> static T run(T a) { return Subtract::run(T(0), a); }
};
struct Minimum {
  template <class T> static T run(T a, T b) { return b < a ? b : a; }
};
struct Maximum {
  template <class T> static T run(T a, T b) { return a < b ? b : a; }
};
struct SumOfDifferences {
  template <class T> static T run(T a, T b, T c) { return Add::run(c, Subtract::run(std::max(a, b), std::min(a, b))); }
};
struct And {
  template <class T> static T run(T a, T b) { return a & b; }
};
struct Or {
  template <class T> static T run(T a, T b) { return a | b; }
};
struct Xor {
  template <class T> static T run(T a, T b) { return a ^ b; }
};
struct Not {
  template <class T> static T run(T a) { return (T)~a; }
};
struct IsZero {
  template <class T> static T run(T a) { return a == 0; }
};
// Shifts by as much as the width or more leave nothing, or the sign.
struct ShiftLeft {
  template <class T> static T run(T a, uint32_t by) { return by >= 8 * sizeof(T) ? 0 : wrap<T>((uint64_t)a << by); }
};
struct ShiftRight {
  template <class T> static T run(T a, uint32_t by) {
    constexpr uint32_t BITS = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>)
      return (T)(a >> std::min(by, BITS - 1));
    return by >= BITS ? 0 : (T)(a >> by);
  }
};
template <bool Left, bool Clamp> struct Funnel {
  static uint32_t run(uint32_t low, uint32_t high, uint32_t by) {
    const uint32_t n = Clamp ? std::min(by, 32u) : by & 31;
    const uint64_t both = (uint64_t)high << 32 | low;
    return Left ? (uint32_t)((both << n) >> 32) : (uint32_t)(both >> n);
  }
};
struct PopulationCount {
  template <class T> static uint32_t run(T a) { return std::popcount(a); }
};
struct LeadingZeros {
  template <class T> static uint32_t run(T a) { return std::countl_zero(a); }
};
struct Reverse {
  template <class T> static T run(T a) {
    T result = 0;
    for (size_t i = 0; i < 8 * sizeof(T); ++i)
      result = (T)(result << 1 | (a >> i & 1));
    return result;
  }
};
template <bool Shift> struct FindBit {
  template <class T> static uint32_t run(T a) {
    U<T> bits = (U<T>)a;
    if constexpr (std::is_signed_v<T>)
      if (a < 0)
        bits = ~bits;
    if (!bits)
      return ~0u;
    const uint32_t zeros = std::countl_zero(bits);
    return Shift ? zeros : 8 * sizeof(T) - 1 - zeros;
  }
};
struct ExtractField {
  template <class T> static T run(T a, uint32_t position, uint32_t length) {
    constexpr uint32_t BITS = 8 * sizeof(T);
    position &= 0xff;
    length &= 0xff;
    const U<T> bits = (U<T>)a;
    const uint32_t top = std::min(position + length - 1, BITS - 1);
    const bool sign = std::is_signed_v<T> && length && bits >> top & 1;
    U<T> result = 0;
    for (uint32_t i = 0; i < BITS; ++i)
      result |= (U<T>)(i < length && position + i < BITS ? bits >> (position + i) & 1 : sign) << i;
    return (T)result;
  }
};
template <class T> void insertField(Warp &warp, const Instruction &in, Mask mask) {
  T *const d = warp.at<T>(in.r[0]);
  const T *const a = warp.at<T>(in.r[1]), *const b = warp.at<T>(in.r[2]);
  const uint32_t *const from = warp.at<uint32_t>(in.r[3]), *const count = warp.at<uint32_t>(in.r[4]);
  constexpr uint32_t BITS = 8 * sizeof(T);
  forLanes(mask, [&](int i) {
    const uint32_t position = from[i] & 0xff, length = count[i] & 0xff;
    const T ones = length >= BITS ? ~T(0) : (T(1) << length) - 1;
    const T field = position >= BITS ? 0 : ones << position;
    d[i] = (b[i] & ~field) | (position >= BITS ? 0 : a[i] << position & field);
  });
}

enum PermuteMode { PERMUTE, F4E, B4E, RC8, ECL, ECR, RC16 };
template <PermuteMode Mode> struct Permute {
  static uint32_t run(uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t both = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    const uint32_t k = c & 3;
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t select = 0;
      switch (Mode) {
      case PERMUTE:
        select = c >> 4 * i & 15;
        break;
      case F4E:
        select = k + i;
        break;
      case B4E:
        select = (k - i) & 7;
        break;
      case RC8:
        select = k;
        break;
      case ECL:
        select = std::max(k, i);
        break;
      case ECR:
        select = std::min(k, i);
        break;
      case RC16:
        select = (k & 1) * 2 + (i & 1);
        break;
      }
      uint32_t byte = both >> 8 * (select & 7) & 0xff;
      if (Mode == PERMUTE && select & 8)
        byte = byte & 0x80 ? 0xff : 0;
      result |= byte << 8 * i;
    }
    return result;
  }
};

void logic3(Warp &warp, const Instruction &in, Mask mask) {
  uint32_t *const d = warp.at<uint32_t>(in.r[0]);
  const uint32_t *const a = warp.at<uint32_t>(in.r[1]), *const b = warp.at<uint32_t>(in.r[2]),
                        *const c = warp.at<uint32_t>(in.r[3]);
  forLanes(mask, [&](int i) {
    uint32_t result = 0;
    for (int k = 0; k < 8; ++k)
      if (in.imm >> k & 1)
        result |= (k & 4 ? a[i] : ~a[i]) & (k & 2 ? b[i] : ~b[i]) & (k & 1 ? c[i] : ~c[i]);
    d[i] = result;
  });
}

// Sums with carry in CC. imm: 1 reads the carry, 2 writes it; 4 subtracts.
template <class T> void carry(Warp &warp, const Instruction &in, Mask mask) {
  T *const d = warp.at<T>(in.r[0]);
  const T *const a = warp.at<T>(in.r[1]), *const b = warp.at<T>(in.r[2]);
  Mask out = 0;
  forLanes(mask, [&](int i) {
    const bool given = in.imm & 1 && warp.carry >> i & 1;
    using W = Unsigned128;
    const W sum = in.imm & 4 ? (W)a[i] - b[i] - given : (W)a[i] + b[i] + given;
    d[i] = (T)sum;
    out |= Mask(sum >> 8 * sizeof(T) & 1) << i;
  });
  if (in.imm & 2)
    warp.carry = (warp.carry & ~mask) | (out & mask);
}

void emitBinary(Decoder &to, Handler run, int bytes) {
  to.expectOperands(3);
  to.emit(run, {to.define(to.operand(0), bytes)}, {to.use(to.operand(1), bytes), to.use(to.operand(2), bytes)});
}
void emitUnary(Decoder &to, Handler run, int bytes, int source) {
  to.expectOperands(2);
  to.emit(run, {to.define(to.operand(0), bytes)}, {to.use(to.operand(1), source)});
}

} // namespace

// Float instructions of the same names, in float.cpp.
bool decodeFloat(Decoder &, Modifiers, const std::string &name);

template <class F> static void simple(Decoder &to, Modifiers words) {
  if (decodeFloat(to, words, to.source->opcode[0]))
    return;
  const Type type = words.type();
  const Handler run = SIMT_BY_INTEGER(type, (binary<T, T, T, F>));
  if (!run)
    words.unknown();
  words.done();
  emitBinary(to, run, bytesOf(type));
}

template <bool Subtracts> static void addition(Decoder &to, Modifiers words) {
  const bool reads = to.source->opcode[0].back() == 'c';
  if (!reads && decodeFloat(to, words, to.source->opcode[0]))
    return;
  const bool writes = words.take("cc");
  const bool saturated = !reads && !writes && words.take("sat");
  const Type type = words.type();
  words.done();
  if (saturated) {
    if (type != Type::S32)
      words.unknown();
    return emitBinary(to,
                      Subtracts ? binary<int32_t, int32_t, int32_t, SubtractSaturated>
                                : binary<int32_t, int32_t, int32_t, AddSaturated>,
                      4);
  }
  if (!reads && !writes) {
    const Handler run =
        Subtracts ? SIMT_BY_INTEGER(type, (binary<T, T, T, Subtract>)) : SIMT_BY_INTEGER(type, (binary<T, T, T, Add>));
    if (!run)
      words.unknown();
    return emitBinary(to, run, bytesOf(type));
  }
  if (!isInteger(type) || bytesOf(type) < 4)
    words.unknown();
  const int bytes = bytesOf(type);
  to.expectOperands(3);
  to.emit(bytes == 4 ? carry<uint32_t> : carry<uint64_t>, {to.define(to.operand(0), bytes)},
          {to.use(to.operand(1), bytes), to.use(to.operand(2), bytes)})
      .imm = reads + 2 * writes + 4 * Subtracts;
}

static void multiply(Decoder &to, Modifiers words) {
  std::string part;
  if (!words.takeAny({"lo", "hi", "wide"}, &part)) {
    if (!decodeFloat(to, words, "mul"))
      words.unknown();
    return;
  }
  const Type type = words.type();
  words.done();
  const int bytes = bytesOf(type);
  Handler run = part == "lo" ? SIMT_BY_INTEGER(type, (binary<T, T, T, MultiplyLow>))
                             : SIMT_BY_INTEGER(type, (binary<T, T, T, MultiplyHigh>));
  if (part == "wide") {
    run = bytes == 8 ? nullptr : SIMT_BY_INTEGER(type, (binary<typename Wider<T>::Type, T, T, MultiplyWide>));
    if (!run)
      words.unknown();
    to.expectOperands(3);
    to.emit(run, {to.define(to.operand(0), 2 * bytes)}, {to.use(to.operand(1), bytes), to.use(to.operand(2), bytes)});
    return;
  }
  if (!run)
    words.unknown();
  emitBinary(to, run, bytes);
}

static void multiplyAdd(Decoder &to, Modifiers words) {
  std::string part;
  if (!words.takeAny({"lo", "hi", "wide"}, &part)) {
    if (!decodeFloat(to, words, "fma"))
      words.unknown();
    return;
  }
  const Type type = words.type();
  words.done();
  const int bytes = bytesOf(type), result = part == "wide" ? 2 * bytes : bytes;
  const Handler run =
      part == "lo"   ? SIMT_BY_INTEGER(type, (ternary<T, T, T, T, MultiplyAddLow>))
      : part == "hi" ? SIMT_BY_INTEGER(type, (ternary<T, T, T, T, MultiplyAddHigh>))
      : bytes == 8
          ? nullptr
          : SIMT_BY_INTEGER(type, (ternary<typename Wider<T>::Type, T, T, typename Wider<T>::Type, MultiplyAddWide>));
  if (!run)
    words.unknown();
  to.expectOperands(4);
  to.emit(run, {to.define(to.operand(0), result)},
          {to.use(to.operand(1), bytes), to.use(to.operand(2), bytes), to.use(to.operand(3), result)});
}

template <class F> static void unaryInteger(Decoder &to, Modifiers words) {
  if (decodeFloat(to, words, to.source->opcode[0]))
    return;
  const Type type = words.type();
  const Handler run = SIMT_BY_INTEGER(type, (unary<T, T, F>));
  if (!run)
    words.unknown();
  words.done();
  emitUnary(to, run, bytesOf(type), bytesOf(type));
}

template <class F> static void bitwise(Decoder &to, Modifiers words) {
  const Type type = words.type();
  words.done();
  to.expectOperands(3);
  if (type == Type::PRED) {
    to.emit(
        [](Warp &warp, const Instruction &in, Mask mask) {
          Mask &d = warp.predicate(in.r[0]);
          d = (d & ~mask) | (F::run(warp.predicate(in.r[1]), warp.predicate(in.r[2])) & mask);
        },
        {to.definePredicate(to.operand(0))}, {to.usePredicate(to.operand(1)), to.usePredicate(to.operand(2))});
    return;
  }
  const Handler run = isSigned(type) ? nullptr : SIMT_BY_INTEGER(type, (binary<T, T, T, F>));
  if (!run)
    words.unknown();
  emitBinary(to, run, bytesOf(type));
}

static void complement(Decoder &to, Modifiers words) {
  const Type type = words.type();
  words.done();
  if (type == Type::PRED) {
    to.expectOperands(2);
    to.emit(
        [](Warp &warp, const Instruction &in, Mask mask) {
          Mask &d = warp.predicate(in.r[0]);
          d = (d & ~mask) | (~warp.predicate(in.r[1]) & mask);
        },
        {to.definePredicate(to.operand(0))}, {to.usePredicate(to.operand(1))});
    return;
  }
  const bool counts = to.source->opcode[0] == "cnot";
  const Handler run = counts ? SIMT_BY_INTEGER(type, (unary<T, T, IsZero>)) : SIMT_BY_INTEGER(type, (unary<T, T, Not>));
  if (!run)
    words.unknown();
  emitUnary(to, run, bytesOf(type), bytesOf(type));
}

template <class F> static void shift(Decoder &to, Modifiers words) {
  const Type type = words.type();
  words.done();
  const Handler run = SIMT_BY_INTEGER(type, (binary<T, T, uint32_t, F>));
  if (!run)
    words.unknown();
  to.expectOperands(3);
  to.emit(run, {to.define(to.operand(0), bytesOf(type))},
          {to.use(to.operand(1), bytesOf(type)), to.use(to.operand(2), 4)});
}

static void funnel(Decoder &to, Modifiers words) {
  const bool left = words.take("l");
  if (!left && !words.take("r"))
    words.unknown();
  const bool clamp = words.take("clamp");
  if (!clamp && !words.take("wrap"))
    words.unknown();
  if (!words.take("b32"))
    words.unknown();
  words.done();
  using W = uint32_t;
  const Handler run = left ? clamp ? ternary<W, W, W, W, Funnel<true, true>> : ternary<W, W, W, W, Funnel<true, false>>
                      : clamp ? ternary<W, W, W, W, Funnel<false, true>>
                              : ternary<W, W, W, W, Funnel<false, false>>;
  to.expectOperands(4);
  to.emit(run, {to.define(to.operand(0), 4)},
          {to.use(to.operand(1), 4), to.use(to.operand(2), 4), to.use(to.operand(3), 4)});
}

template <class F> static void count(Decoder &to, Modifiers words) {
  const Type type = words.type();
  words.done();
  if (type != Type::B32 && type != Type::B64)
    words.unknown();
  emitUnary(to, type == Type::B32 ? unary<uint32_t, uint32_t, F> : unary<uint32_t, uint64_t, F>, 4, bytesOf(type));
}

static void reverse(Decoder &to, Modifiers words) {
  const Type type = words.type();
  words.done();
  if (type != Type::B32 && type != Type::B64)
    words.unknown();
  emitUnary(to, type == Type::B32 ? unary<uint32_t, uint32_t, Reverse> : unary<uint64_t, uint64_t, Reverse>,
            bytesOf(type), bytesOf(type));
}

static void findBit(Decoder &to, Modifiers words) {
  const bool amount = words.take("shiftamt");
  const Type type = words.type();
  words.done();
  const Handler run = bytesOf(type) < 4 ? nullptr
                      : amount          ? SIMT_BY_INTEGER(type, (unary<uint32_t, T, FindBit<true>>))
                                        : SIMT_BY_INTEGER(type, (unary<uint32_t, T, FindBit<false>>));
  if (!run)
    words.unknown();
  emitUnary(to, run, 4, bytesOf(type));
}

static void extractField(Decoder &to, Modifiers words) {
  const Type type = words.type();
  words.done();
  const int bytes = bytesOf(type);
  const Handler run = bytes < 4 ? nullptr : SIMT_BY_INTEGER(type, (ternary<T, T, uint32_t, uint32_t, ExtractField>));
  if (!run)
    words.unknown();
  to.expectOperands(4);
  to.emit(run, {to.define(to.operand(0), bytes)},
          {to.use(to.operand(1), bytes), to.use(to.operand(2), 4), to.use(to.operand(3), 4)});
}

static void insertFields(Decoder &to, Modifiers words) {
  const Type type = words.type();
  words.done();
  if (type != Type::B32 && type != Type::B64)
    words.unknown();
  const int bytes = bytesOf(type);
  to.expectOperands(5);
  to.emit(
      bytes == 4 ? insertField<uint32_t> : insertField<uint64_t>, {to.define(to.operand(0), bytes)},
      {to.use(to.operand(1), bytes), to.use(to.operand(2), bytes), to.use(to.operand(3), 4), to.use(to.operand(4), 4)});
}

static void permute(Decoder &to, Modifiers words) {
  if (!words.take("b32"))
    words.unknown();
  using W = uint32_t;
  static const std::pair<const char *, Handler> MODES[] = {
      {"f4e", ternary<W, W, W, W, Permute<F4E>>}, {"b4e", ternary<W, W, W, W, Permute<B4E>>},
      {"rc8", ternary<W, W, W, W, Permute<RC8>>}, {"ecl", ternary<W, W, W, W, Permute<ECL>>},
      {"ecr", ternary<W, W, W, W, Permute<ECR>>}, {"rc16", ternary<W, W, W, W, Permute<RC16>>}};
  Handler run = ternary<W, W, W, W, Permute<PERMUTE>>;
  for (const auto &[name, handler] : MODES)
    if (words.take(name))
      run = handler;
  words.done();
  to.expectOperands(4);
  to.emit(run, {to.define(to.operand(0), 4)},
          {to.use(to.operand(1), 4), to.use(to.operand(2), 4), to.use(to.operand(3), 4)});
}

static void logic(Decoder &to, Modifiers words) {
  if (!words.take("b32"))
    words.unknown();
  words.done();
  to.expectOperands(5);
  if (to.operand(4).kind != ptx::Operand::INTEGER)
    to.error("lop3 needs its table as a constant");
  to.emit(logic3, {to.define(to.operand(0), 4)},
          {to.use(to.operand(1), 4), to.use(to.operand(2), 4), to.use(to.operand(3), 4)})
      .imm = to.operand(4).value;
}

static void sumOfDifferences(Decoder &to, Modifiers words) {
  const Type type = words.type();
  words.done();
  const int bytes = bytesOf(type);
  const Handler run = SIMT_BY_INTEGER(type, (ternary<T, T, T, T, SumOfDifferences>));
  if (!run)
    words.unknown();
  to.expectOperands(4);
  to.emit(run, {to.define(to.operand(0), bytes)},
          {to.use(to.operand(1), bytes), to.use(to.operand(2), bytes), to.use(to.operand(3), bytes)});
}

void addInteger(Table &table) {
  table["add"] = table["addc"] = addition<false>;
  table["sub"] = table["subc"] = addition<true>;
  table["mul"] = multiply;
  table["mad"] = multiplyAdd;
  table["div"] = simple<Divide>;
  table["rem"] = simple<Remainder>;
  table["min"] = simple<Minimum>;
  table["max"] = simple<Maximum>;
  table["abs"] = unaryInteger<Absolute>;
  table["neg"] = unaryInteger<Negate>;
  table["sad"] = sumOfDifferences;
  table["and"] = bitwise<And>;
  table["or"] = bitwise<Or>;
  table["xor"] = bitwise<Xor>;
  table["not"] = table["cnot"] = complement;
  table["shl"] = shift<ShiftLeft>;
  table["shr"] = shift<ShiftRight>;
  table["shf"] = funnel;
  table["popc"] = count<PopulationCount>;
  table["clz"] = count<LeadingZeros>;
  table["brev"] = reverse;
  table["bfind"] = findBit;
  table["bfe"] = extractField;
  table["bfi"] = insertFields;
  table["prmt"] = permute;
  table["lop3"] = logic;
}

} // namespace simt
