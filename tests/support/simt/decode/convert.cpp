// cvt between all types.
#include "handlers.h"
#include "small_float.h"
#include <cmath>
#include <limits>

namespace simt {
namespace {

// Register bits of `From` that count, extended, then cut to those of the result and extended again.
// imm: bits of the source | signed << 8 | bits of the result << 16 | signed << 24.
template <class To, class From> void resize(Warp &warp, const Instruction &in, Mask mask) {
  To *const d = warp.at<To>(in.r[0]);
  const From *const a = warp.at<From>(in.r[1]);
  const int left = 64 - int(in.imm & 0xff), right = 64 - int(in.imm >> 16 & 0xff);
  const bool fromSigned = in.imm >> 8 & 1, toSigned = in.imm >> 24 & 1;
  forLanes(mask, [&](int i) {
    const uint64_t high = (uint64_t)a[i] << left;
    const uint64_t value = fromSigned ? (uint64_t)((int64_t)high >> left) : high >> left;
    const uint64_t cut = value << right;
    d[i] = (To)(toSigned ? (uint64_t)((int64_t)cut >> right) : cut >> right);
  });
}

// Between the usual sizes without a detour.
template <class To, class From> void widen(Warp &warp, const Instruction &in, Mask mask) {
  To *const d = warp.at<To>(in.r[0]);
  const From *const a = warp.at<From>(in.r[1]);
  forLanes(mask, [&](int i) { d[i] = (To)a[i]; });
}

template <class To, class From> void clampInteger(Warp &warp, const Instruction &in, Mask mask) {
  // imm as for resize; limits by the result's type.
  To *const d = warp.at<To>(in.r[0]);
  const From *const a = warp.at<From>(in.r[1]);
  const int left = 64 - int(in.imm & 0xff), bits = int(in.imm >> 16 & 0xff);
  const bool fromSigned = in.imm >> 8 & 1, toSigned = in.imm >> 24 & 1;
  forLanes(mask, [&](int i) {
    const uint64_t high = (uint64_t)a[i] << left;
    const Int128 value = fromSigned ? (Int128)((int64_t)high >> left) : (Int128)(high >> left);
    const Int128 greatest = ((Int128)1 << (toSigned ? bits - 1 : bits)) - 1, least = toSigned ? -greatest - 1 : 0;
    d[i] = (To)(value < least ? least : value > greatest ? greatest : value);
  });
}

#define SIMT_BY_SIZES(to, from, Handler_)                                                                              \
  ((to) == 2     ? (from) == 2   ? Handler_<uint16_t, uint16_t>                                                        \
                   : (from) == 4 ? Handler_<uint16_t, uint32_t>                                                        \
                                 : Handler_<uint16_t, uint64_t>                                                        \
       : (to) == 4 ? (from) == 2   ? Handler_<uint32_t, uint16_t>                                                      \
                     : (from) == 4 ? Handler_<uint32_t, uint32_t>                                                      \
                                   : Handler_<uint32_t, uint64_t>                                                      \
       : (from) == 2 ? Handler_<uint64_t, uint16_t>                                                                    \
   : (from) == 4 ? Handler_<uint64_t, uint32_t>                                                                        \
                 : Handler_<uint64_t, uint64_t>)

enum Rounding { NEAREST, ZERO, DOWN, UP };
template <Rounding R, class T> T roundWhole(T x) {
  return R == NEAREST ? std::nearbyint(x) : R == ZERO ? std::trunc(x) : R == DOWN ? std::floor(x) : std::ceil(x);
}

template <class D, class A, Rounding R, bool Flush> struct ToInteger {
  static D run(A x) {
    if (Flush && std::fabs(x) < (A)std::numeric_limits<float>::min())
      x = 0;
    const A whole = roundWhole<R>(x);
    // Limits of D that A holds exactly: the least, and one more than the greatest.
    constexpr A least = (A)std::numeric_limits<D>::min();
    constexpr A beyond = (A)(std::numeric_limits<D>::max() / 2 + 1) * 2;
    if (whole != whole) // zero, or the highest bit where 64 bits are involved
      return sizeof(A) == 8 || sizeof(D) == 8 ? D(std::make_unsigned_t<D>(1) << (8 * sizeof(D) - 1)) : D(0);
    return whole < least ? std::numeric_limits<D>::min() : whole >= beyond ? std::numeric_limits<D>::max() : (D)whole;
  }
};
template <class D, class A> struct FromInteger {
  static D run(A x) { return (D)x; }
};

template <class D, class A, bool Flush> Handler toInteger(Rounding rounding) {
  switch (rounding) {
  case NEAREST:
    return unary<D, A, ToInteger<D, A, NEAREST, Flush>>;
  case ZERO:
    return unary<D, A, ToInteger<D, A, ZERO, Flush>>;
  case DOWN:
    return unary<D, A, ToInteger<D, A, DOWN, Flush>>;
  default:
    return unary<D, A, ToInteger<D, A, UP, Flush>>;
  }
}

template <class T, Rounding R, bool Flush, bool Sat> struct RoundWhole {
  static T run(T x) {
    if (Flush && std::fabs(x) < (T)std::numeric_limits<float>::min())
      x = std::copysign(T(0), x);
    T whole = std::copysign(roundWhole<R>(x), x);
    if (sizeof(T) == 4 && whole != whole)
      whole = std::bit_cast<float>(0x7fffffff);
    return Sat ? whole > 0 ? whole < 1 ? whole : T(1) : T(0) : whole;
  }
};
template <class T, bool Flush, bool Sat> Handler wholeFloats(Rounding rounding) {
  switch (rounding) {
  case NEAREST:
    return unary<T, T, RoundWhole<T, NEAREST, Flush, Sat>>;
  case ZERO:
    return unary<T, T, RoundWhole<T, ZERO, Flush, Sat>>;
  case DOWN:
    return unary<T, T, RoundWhole<T, DOWN, Flush, Sat>>;
  default:
    return unary<T, T, RoundWhole<T, UP, Flush, Sat>>;
  }
}

template <bool Flush, bool Sat> struct KeepFloat {
  static float run(float x) {
    if (Flush && std::fabs(x) < std::numeric_limits<float>::min())
      x = std::copysign(0.0f, x);
    if (x != x)
      x = std::bit_cast<float>(0x7fffffff);
    return Sat ? x > 0 ? x < 1 ? x : 1 : 0 : x;
  }
};

struct Narrow {
  static float run(double x) { return KeepFloat<false, false>::run((float)x); }
};
struct Bf16ToFloat {
  static float run(uint16_t x) { return KeepFloat<false, false>::run(fromBf16(x)); }
};
template <class H> struct SmallToFloat {
  static float run(uint16_t x) { return KeepFloat<false, false>::run((float)H{x}.value()); }
};
template <class H> struct SmallToDouble {
  static double run(uint16_t x) { return H{x}.value(); }
};
template <bool Relu> struct FloatToBf16 {
  static uint16_t run(float x) { return Relu && !(x > 0) && x == x ? 0 : toBf16(x); }
};
template <class H, class A, bool TowardsZero, bool Relu> struct ToSmall {
  static uint16_t run(A x) {
    const H result = H::from(x, TowardsZero);
    return Relu && result.bits & 0x8000 ? 0 : result.bits;
  }
};
// The second operand is the lower half.
template <class H, bool TowardsZero, bool Relu> struct ToPair {
  static uint32_t run(float high, float low) {
    return (uint32_t)ToSmall<H, float, TowardsZero, Relu>::run(high) << 16 |
           ToSmall<H, float, TowardsZero, Relu>::run(low);
  }
};
struct ToBf16Pair {
  static uint32_t run(float high, float low) { return (uint32_t)toBf16(high) << 16 | toBf16(low); }
};

// tf32: 10 bits of mantissa; rna rounds ties away from zero.
struct ToTf32Away {
  static uint32_t run(uint32_t x) {
    return (x & 0x7f800000) == 0x7f800000 ? (x & 0x7fffff ? 0x7fffffff : x) : (x + 0x1000) & ~0x1fffu;
  }
};
struct ToTf32Nearest {
  static uint32_t run(uint32_t x) {
    return (x & 0x7f800000) == 0x7f800000 ? (x & 0x7fffff ? 0x7fffffff : x) : (x + 0xfff + (x >> 13 & 1)) & ~0x1fffu;
  }
};

int64_t sizes(Type from, Type to) {
  return 8 * bytesOf(from) | int64_t(isSigned(from)) << 8 | int64_t(8 * bytesOf(to)) << 16 |
         int64_t(isSigned(to)) << 24;
}

// The operand in a register as wide as its type (of 8 bits: 16), for what reads numbers.
Ref source(Decoder &to, const ptx::Operand &operand, Type type) {
  const int bytes = std::max(2, bytesOf(type)), found = to.registerBytes(operand);
  if (found == 0 || (found == bytes && bytesOf(type) > 1))
    return to.use(operand, bytes);
  if (found < bytesOf(type))
    to.error("register '" + operand.name + "' is too narrow");
  const Ref result = to.temporary(bytes);
  const Type whole = bytes == 2 ? (isSigned(type) ? Type::S16 : Type::U16) : type;
  to.emit(SIMT_BY_SIZES(bytes, found, resize), {result}, {to.use(operand, found)}).imm = sizes(type, whole);
  return result;
}

// Where a result of the type goes: directly, or through a temporary into a wider register.
struct Target {
  Decoder &to;
  Type type;
  Ref place;
  Ref wide = NONE;
  int wideBytes = 0;
  Target(Decoder &to, const ptx::Operand &operand, Type type) : to(to), type(type) {
    const int bytes = std::max(2, bytesOf(type)), found = to.registerBytes(operand);
    if (found == bytes || found == 0) {
      place = to.define(operand, bytes);
      return;
    }
    wide = to.define(operand, found);
    wideBytes = found;
    place = to.temporary(bytes);
  }
  void finish() {
    if (wide == NONE)
      return;
    const int bytes = std::max(2, bytesOf(type));
    const Type extended = wideBytes == 8   ? (isSigned(type) ? Type::S64 : Type::U64)
                          : isSigned(type) ? Type::S32
                                           : Type::U32;
    to.emit(SIMT_BY_SIZES(wideBytes, bytes, resize), {wide}, {place}).imm = sizes(type, extended);
  }
};

template <class D> Handler fromInteger(Type type) {
  switch (type) {
  case Type::S8:
  case Type::S16:
    return unary<D, int16_t, FromInteger<D, int16_t>>;
  case Type::U8:
  case Type::U16:
    return unary<D, uint16_t, FromInteger<D, uint16_t>>;
  case Type::S32:
    return unary<D, int32_t, FromInteger<D, int32_t>>;
  case Type::U32:
    return unary<D, uint32_t, FromInteger<D, uint32_t>>;
  case Type::S64:
    return unary<D, int64_t, FromInteger<D, int64_t>>;
  case Type::U64:
    return unary<D, uint64_t, FromInteger<D, uint64_t>>;
  default:
    return nullptr;
  }
}
template <class A, bool Flush> Handler toIntegerOf(Type type, Rounding rounding) {
  switch (type) {
  case Type::S16:
    return toInteger<int16_t, A, Flush>(rounding);
  case Type::U16:
    return toInteger<uint16_t, A, Flush>(rounding);
  case Type::S32:
    return toInteger<int32_t, A, Flush>(rounding);
  case Type::U32:
    return toInteger<uint32_t, A, Flush>(rounding);
  case Type::S64:
    return toInteger<int64_t, A, Flush>(rounding);
  case Type::U64:
    return toInteger<uint64_t, A, Flush>(rounding);
  default:
    return nullptr;
  }
}

void integers(Decoder &to, Type d, Type a, bool saturates) {
  const ptx::Operand &from = to.operand(1);
  const int found = std::max(to.registerBytes(from), 0), result = to.registerBytes(to.operand(0));
  if (found == 0 || result == 0)
    to.error("cvt of what is no register");
  if (found < bytesOf(a) || result < bytesOf(d))
    to.error("a register is too narrow for its type");
  const Ref place = to.define(to.operand(0), result), value = to.use(from, found);
  if (saturates) {
    // Extended to the register afterwards, as the type has it.
    to.emit(SIMT_BY_SIZES(result, found, clampInteger), {place}, {value}).imm = sizes(a, d);
    return;
  }
  Handler run = nullptr;
  if (found == bytesOf(a) && result == bytesOf(d)) {
    if (isSigned(a) && result > found)
      run = result == 8 ? found == 4 ? widen<int64_t, int32_t> : widen<int64_t, int16_t> : widen<int32_t, int16_t>;
    else
      run = SIMT_BY_SIZES(result, found, widen);
  }
  Instruction &in = to.emit(run ? run : SIMT_BY_SIZES(result, found, resize), {place}, {value});
  in.imm = sizes(a, d);
}

Handler smallToFloat(Type a, bool wide) {
  if (wide)
    return a == Type::F16 ? unary<double, uint16_t, SmallToDouble<F16>> : unary<double, uint16_t, SmallToDouble<BF16>>;
  return a == Type::F16 ? unary<float, uint16_t, SmallToFloat<F16>> : unary<float, uint16_t, Bf16ToFloat>;
}

template <class H> Handler toSmall(Type a, bool zero, bool relu) {
  if (a == Type::F64)
    return zero || relu ? nullptr : unary<uint16_t, double, ToSmall<H, double, false, false>>;
  return zero   ? relu ? unary<uint16_t, float, ToSmall<H, float, true, true>>
                       : unary<uint16_t, float, ToSmall<H, float, true, false>>
           : relu ? unary<uint16_t, float, ToSmall<H, float, false, true>>
                : unary<uint16_t, float, ToSmall<H, float, false, false>>;
}
template <class H> Handler toPair(bool zero, bool relu) {
  using W = uint32_t;
  return zero ? relu ? binary<W, float, float, ToPair<H, true, true>> : binary<W, float, float, ToPair<H, true, false>>
         : relu ? binary<W, float, float, ToPair<H, false, true>>
                : binary<W, float, float, ToPair<H, false, false>>;
}

void convert(Decoder &to, Modifiers words) {
  std::string way;
  words.takeAny({"rni", "rzi", "rmi", "rpi", "rn", "rz", "rna"}, &way);
  const bool relu = words.take("relu"), ftz = words.take("ftz"), sat = words.take("sat");
  const Type d = words.type(), a = words.type();
  words.done();
  const bool whole = way.size() == 3 && way[2] == 'i';
  const Rounding rounding = way == "rni" ? NEAREST : way == "rzi" ? ZERO : way == "rmi" ? DOWN : UP;
  if (isInteger(d) && isInteger(a)) {
    if (!way.empty() || relu || ftz)
      words.unknown();
    to.expectOperands(2);
    return integers(to, d, a, sat);
  }
  if (d == Type::F16X2 || d == Type::BF16X2) {
    if ((way != "rn" && way != "rz") || ftz || sat || a != Type::F32)
      words.unknown();
    to.expectOperands(3);
    const bool zero = way == "rz";
    const Handler run = d == Type::F16X2 ? toPair<F16>(zero, relu)
                        : !zero && !relu ? binary<uint32_t, float, float, ToBf16Pair>
                                         : toPair<BF16>(zero, relu);
    to.emit(run, {to.define(to.operand(0), 4)}, {to.use(to.operand(1), 4), to.use(to.operand(2), 4)});
    return;
  }
  to.expectOperands(2);
  if (d == Type::TF32) {
    if (a != Type::F32 || (way != "rna" && way != "rn") || relu || ftz || sat)
      words.unknown();
    if (way == "rn")
      to.needs(90);
    to.emit(way == "rna" ? unary<uint32_t, uint32_t, ToTf32Away> : unary<uint32_t, uint32_t, ToTf32Nearest>,
            {to.define(to.operand(0), 4)}, {to.use(to.operand(1), 4)});
    return;
  }
  const bool smallD = d == Type::F16 || d == Type::BF16, smallA = a == Type::F16 || a == Type::BF16;
  if ((d == Type::BF16 && a != Type::F32) || (a == Type::BF16 && d != Type::F32))
    to.needs(90);
  Handler run = nullptr;
  Ref value = NONE;
  if (smallA && (d == Type::F32 || d == Type::F64) && way.empty() && !relu && !sat)
    run = smallToFloat(a, d == Type::F64);
  else if (smallD && (a == Type::F32 || a == Type::F64) && (way == "rn" || way == "rz") && !ftz && !sat) {
    const bool zero = way == "rz";
    if (d == Type::BF16 && a == Type::F32 && !zero)
      run = relu ? unary<uint16_t, float, FloatToBf16<true>> : unary<uint16_t, float, FloatToBf16<false>>;
    else
      run = d == Type::F16 ? toSmall<F16>(a, zero, relu) : toSmall<BF16>(a, zero, relu);
  } else if (relu) {
    words.unknown();
  } else if (smallA || smallD) {
    // Integers and rounding to whole numbers by way of double, which holds them all but the largest.
    if (smallA && isInteger(d) && whole && !ftz && !sat) {
      value = to.temporary(8);
      to.emit(smallToFloat(a, true), {value}, {source(to, to.operand(1), a)});
      // The rule for NaN is that of the small type.
      const Ref single = to.temporary(4);
      to.emit(unary<float, double, FromInteger<float, double>>, {single}, {value});
      value = single;
      run = toIntegerOf<float, false>(d, rounding);
    } else if (smallD && isInteger(a) && way == "rn" && !ftz && !sat) {
      value = to.temporary(8);
      const Handler first = fromInteger<double>(a);
      if (!first || bytesOf(a) == 8)
        words.unknown();
      to.emit(first, {value}, {source(to, to.operand(1), a)});
      run = d == Type::F16 ? toSmall<F16>(Type::F64, false, false) : toSmall<BF16>(Type::F64, false, false);
    } else if (smallD && d == a && whole && !ftz && !sat) {
      const Ref wide = to.temporary(8);
      value = to.temporary(8);
      to.emit(smallToFloat(a, true), {wide}, {source(to, to.operand(1), a)});
      to.emit(wholeFloats<double, false, false>(rounding), {value}, {wide});
      run = d == Type::F16 ? toSmall<F16>(Type::F64, false, false) : toSmall<BF16>(Type::F64, false, false);
    }
  } else if (isFloat(d) && isInteger(a)) {
    if (way == "rn" && !ftz && !sat)
      run = d == Type::F32 ? fromInteger<float>(a) : fromInteger<double>(a);
  } else if (isInteger(d) && isFloat(a)) {
    // Results are kept within the type's limits with and without .sat.
    if (whole && (!ftz || a == Type::F32))
      run = a == Type::F32 ? ftz ? toIntegerOf<float, true>(d, rounding) : toIntegerOf<float, false>(d, rounding)
                           : toIntegerOf<double, false>(d, rounding);
  } else if (d == a) {
    if (d == Type::F32 && whole)
      run = ftz   ? sat ? wholeFloats<float, true, true>(rounding) : wholeFloats<float, true, false>(rounding)
              : sat ? wholeFloats<float, false, true>(rounding)
                  : wholeFloats<float, false, false>(rounding);
    else if (d == Type::F32 && way.empty())
      run = ftz   ? sat ? unary<float, float, KeepFloat<true, true>> : unary<float, float, KeepFloat<true, false>>
              : sat ? unary<float, float, KeepFloat<false, true>>
                  : unary<float, float, KeepFloat<false, false>>;
    else if (d == Type::F64 && whole && !ftz)
      run = sat ? wholeFloats<double, false, true>(rounding) : wholeFloats<double, false, false>(rounding);
  } else if (d == Type::F64 && a == Type::F32 && way.empty() && !ftz && !sat) {
    run = unary<double, float, FromInteger<double, float>>;
  } else if (d == Type::F32 && a == Type::F64 && way == "rn" && !ftz && !sat) {
    run = unary<float, double, Narrow>;
  }
  if (!run)
    words.unknown();
  if (value == NONE)
    value = source(to, to.operand(1), a);
  Target target(to, to.operand(0), d);
  to.emit(run, {target.place}, {value});
  target.finish();
}

} // namespace

void addConvert(Table &table) { table["cvt"] = convert; }

} // namespace simt
