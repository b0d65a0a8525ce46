// Floating point: f32 and f64 as IEEE 754 has it, with PTX's own NaN (one pattern), flushing of subnormals where .ftz
// says so, and approximations that are better than promised: computed in double, rounded once.
#include "handlers.h"
#include "small_float.h"
#include <cmath>
#include <limits>

namespace simt {
namespace {

template <bool Flush, class T> T flush(T x) {
  if constexpr (Flush && sizeof(T) == 4)
    return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x;
  return x;
}

template <class T> T canonical(T x) {
  if constexpr (sizeof(T) == 4)
    return x != x ? std::bit_cast<float>(0x7fffffff) : x;
  return x;
}

template <bool Saturate, class T> T saturate(T x) {
  if constexpr (Saturate)
    return x > 0 ? x < 1 ? x : T(1) : T(0); // a NaN becomes 0
  return x;
}

template <bool Flush, bool Saturate, class T> T finish(T x) { return saturate<Saturate>(canonical(flush<Flush>(x))); }

template <bool F, bool S> struct Add {
  template <class T> static T run(T a, T b) { return finish<F, S>(flush<F>(a) + flush<F>(b)); }
};
template <bool F, bool S> struct Subtract {
  template <class T> static T run(T a, T b) { return finish<F, S>(flush<F>(a) - flush<F>(b)); }
};
template <bool F, bool S> struct Multiply {
  template <class T> static T run(T a, T b) { return finish<F, S>(flush<F>(a) * flush<F>(b)); }
};
template <bool F, bool S> struct Fused {
  static float run(float a, float b, float c) {
    return finish<F, S>(__builtin_fmaf(flush<F>(a), flush<F>(b), flush<F>(c)));
  }
  static double run(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
template <bool F> struct Divide {
  template <class T> static T run(T a, T b) { return finish<F, false>(flush<F>(a) / flush<F>(b)); }
};
template <bool F> struct DivideFull {
  static float run(float a, float b) { return finish<F, false>((float)((double)flush<F>(a) / flush<F>(b))); }
};
// x * (1 / y), where 1 / y of the greatest numbers is lost.
template <bool F> struct DivideApproximately {
  static float run(float a, float b) {
    const float x = flush<F>(a), y = flush<F>(b);
    if (std::fabs(y) > 0x1p126f && std::fabs(y) <= std::numeric_limits<float>::max())
      return std::isinf(x) ? canonical(NAN) : canonical(x * std::copysign(0.0f, y));
    return finish<F, false>((float)((double)x / y));
  }
};
template <bool F, bool N> struct Minimum {
  template <class T> static T run(T x, T y) {
    const T a = flush<F>(x), b = flush<F>(y);
    const T least = a < b || (a == b && std::signbit(a)) ? a : b; // -0 is below +0
    const T known = a != a ? b : b != b ? a : least;
    return canonical(N && (a != a || b != b) ? std::numeric_limits<T>::quiet_NaN() : known);
  }
};
template <bool F, bool N> struct Maximum {
  template <class T> static T run(T x, T y) {
    const T a = flush<F>(x), b = flush<F>(y);
    const T greatest = a > b || (a == b && !std::signbit(a)) ? a : b;
    const T known = a != a ? b : b != b ? a : greatest;
    return canonical(N && (a != a || b != b) ? std::numeric_limits<T>::quiet_NaN() : known);
  }
};
template <bool F> struct Absolute {
  template <class T> static T run(T a) { return std::fabs(flush<F>(a)); }
};
template <bool F> struct Negate {
  template <class T> static T run(T a) { return -flush<F>(a); }
};
struct CopySign {
  template <class T> static T run(T sign, T value) { return std::copysign(value, sign); }
};

template <bool F> struct Reciprocal {
  template <class T> static T run(T a) { return finish<F, false>(T(1) / flush<F>(a)); }
};
template <bool F> struct SquareRoot {
  template <class T> static T run(T a) { return finish<F, false>(std::sqrt(flush<F>(a))); }
};
#define SIMT_APPROXIMATION(Name, formula)                                                                              \
  template <bool F> struct Name {                                                                                      \
    static float run(float a) {                                                                                        \
      const double x = flush<F>(a);                                                                                    \
      return finish<F, false>((float)(formula));                                                                       \
    }                                                                                                                  \
  };
SIMT_APPROXIMATION(ReciprocalRoot, 1 / std::sqrt(x))
SIMT_APPROXIMATION(Exponential, std::exp2(x))
SIMT_APPROXIMATION(Logarithm, std::log2(x))
SIMT_APPROXIMATION(Sine, std::sin(x))
SIMT_APPROXIMATION(Cosine, std::cos(x))
SIMT_APPROXIMATION(HyperbolicTangent, std::tanh(x))
struct ReciprocalRoot64 {
  static double run(double a) { return 1 / std::sqrt(a); }
};

// One or two small floats in a register.
template <class H, int N, class F> struct Small1 {
  template <class T> static T run(T a) {
    T result = 0;
    for (int i = 0; i < N; ++i)
      result |= (T)(T(F::template run<H>(H{(uint16_t)(a >> 16 * i)}).bits) << 16 * i);
    return result;
  }
};
template <class H, int N, class F> struct Small2 {
  template <class T> static T run(T a, T b) {
    T result = 0;
    for (int i = 0; i < N; ++i)
      result |= (T)(T(F::template run<H>(H{(uint16_t)(a >> 16 * i)}, H{(uint16_t)(b >> 16 * i)}).bits) << 16 * i);
    return result;
  }
};
template <class H, int N, class F> struct Small3 {
  template <class T> static T run(T a, T b, T c) {
    T result = 0;
    for (int i = 0; i < N; ++i)
      result |=
          (T)(T(F::template run<H>(H{(uint16_t)(a >> 16 * i)}, H{(uint16_t)(b >> 16 * i)}, H{(uint16_t)(c >> 16 * i)})
                    .bits)
              << 16 * i);
    return result;
  }
};
struct SmallAdd {
  template <class H> static H run(H a, H b) { return H::from(fusedToOdd(a.value(), 1, b.value())); }
};
struct SmallSubtract {
  template <class H> static H run(H a, H b) { return H::from(fusedToOdd(a.value(), 1, -b.value())); }
};
struct SmallMultiply {
  template <class H> static H run(H a, H b) { return H::from(a.value() * b.value()); }
};
template <bool Relu> struct SmallFused {
  template <class H> static H run(H a, H b, H c) {
    const H result = H::from(fusedToOdd(a.value(), b.value(), c.value()));
    return Relu && result.bits & 0x8000 ? H{0} : result;
  }
};
struct SmallAbsolute {
  template <class H> static H run(H a) { return H{uint16_t(a.bits & 0x7fff)}; }
};
struct SmallNegate {
  template <class H> static H run(H a) { return H{uint16_t(a.bits ^ 0x8000)}; }
};
template <bool N> struct SmallMinimum {
  template <class H> static H run(H a, H b) { return H::from(Minimum<false, N>::run(a.value(), b.value())); }
};
template <bool N> struct SmallMaximum {
  template <class H> static H run(H a, H b) { return H::from(Maximum<false, N>::run(a.value(), b.value())); }
};

template <class F> Handler small1(Type type) {
  switch (type) {
  case Type::F16:
    return unary<uint16_t, uint16_t, Small1<F16, 1, F>>;
  case Type::F16X2:
    return unary<uint32_t, uint32_t, Small1<F16, 2, F>>;
  case Type::BF16:
    return unary<uint16_t, uint16_t, Small1<BF16, 1, F>>;
  case Type::BF16X2:
    return unary<uint32_t, uint32_t, Small1<BF16, 2, F>>;
  default:
    return nullptr;
  }
}
template <class F> Handler small2(Type type) {
  switch (type) {
  case Type::F16:
    return binary<uint16_t, uint16_t, uint16_t, Small2<F16, 1, F>>;
  case Type::F16X2:
    return binary<uint32_t, uint32_t, uint32_t, Small2<F16, 2, F>>;
  case Type::BF16:
    return binary<uint16_t, uint16_t, uint16_t, Small2<BF16, 1, F>>;
  case Type::BF16X2:
    return binary<uint32_t, uint32_t, uint32_t, Small2<BF16, 2, F>>;
  default:
    return nullptr;
  }
}
template <class F> Handler small3(Type type) {
  switch (type) {
  case Type::F16:
    return ternary<uint16_t, uint16_t, uint16_t, uint16_t, Small3<F16, 1, F>>;
  case Type::F16X2:
    return ternary<uint32_t, uint32_t, uint32_t, uint32_t, Small3<F16, 2, F>>;
  case Type::BF16:
    return ternary<uint16_t, uint16_t, uint16_t, uint16_t, Small3<BF16, 1, F>>;
  case Type::BF16X2:
    return ternary<uint32_t, uint32_t, uint32_t, uint32_t, Small3<BF16, 2, F>>;
  default:
    return nullptr;
  }
}

// Handlers of f32 with and without .ftz and .sat, and of f64.
struct Binary {
  Handler plain, flushing, saturating, both, wide;
  Handler pick(Modifiers &words, Type type, bool ftz, bool sat) const {
    if (type == Type::F64 && !ftz && !sat && wide)
      return wide;
    Handler const found = type != Type::F32 ? nullptr : ftz ? sat ? both : flushing : sat ? saturating : plain;
    if (!found)
      words.unknown();
    return found;
  }
};
template <template <bool, bool> class F> constexpr Binary arithmetic2() {
  return {binary<float, float, float, F<false, false>>, binary<float, float, float, F<true, false>>,
          binary<float, float, float, F<false, true>>, binary<float, float, float, F<true, true>>,
          binary<double, double, double, F<false, false>>};
}
template <template <bool> class F> constexpr Binary plain1() {
  return {unary<float, float, F<false>>, unary<float, float, F<true>>, nullptr, nullptr,
          unary<double, double, F<false>>};
}
template <template <bool> class F> constexpr Binary approximate1() {
  return {unary<float, float, F<false>>, unary<float, float, F<true>>, nullptr, nullptr, nullptr};
}

void emit(Decoder &to, Handler run, Type type, int operands) {
  const int bytes = bytesOf(type);
  to.expectOperands(operands);
  std::vector<Ref> used;
  for (int i = 1; i < operands; ++i)
    used.push_back(to.use(to.operand(i), bytes));
  to.emit(run, {to.define(to.operand(0), bytes)}, used);
}

bool isSmall(Type type) {
  return type == Type::F16 || type == Type::F16X2 || type == Type::BF16 || type == Type::BF16X2;
}

void arithmetic(Decoder &to, Modifiers words, const std::string &name) {
  const bool rounds = words.take("rn"), ftz = words.take("ftz"), relu = words.take("relu"), sat = words.take("sat");
  const Type type = words.type();
  words.done();
  if (name == "fma" && !rounds)
    words.unknown();
  if (isSmall(type)) {
    if (name != "fma" && (type == Type::BF16 || type == Type::BF16X2))
      to.needs(90);
    if (ftz || sat || (relu && name != "fma"))
      words.unknown();
    if (name == "fma")
      return emit(to, relu ? small3<SmallFused<true>>(type) : small3<SmallFused<false>>(type), type, 4);
    return emit(to,
                name == "add"   ? small2<SmallAdd>(type)
                : name == "sub" ? small2<SmallSubtract>(type)
                                : small2<SmallMultiply>(type),
                type, 3);
  }
  if (relu)
    words.unknown();
  if (name == "fma") {
    const Binary handlers = {ternary<float, float, float, float, Fused<false, false>>,
                             ternary<float, float, float, float, Fused<true, false>>,
                             ternary<float, float, float, float, Fused<false, true>>,
                             ternary<float, float, float, float, Fused<true, true>>,
                             ternary<double, double, double, double, Fused<false, false>>};
    return emit(to, handlers.pick(words, type, ftz, sat), type, 4);
  }
  const Binary handlers = name == "add"   ? arithmetic2<Add>()
                          : name == "sub" ? arithmetic2<Subtract>()
                                          : arithmetic2<Multiply>();
  emit(to, handlers.pick(words, type, ftz, sat), type, 3);
}

void division(Decoder &to, Modifiers words) {
  std::string way;
  if (!words.takeAny({"rn", "full", "approx"}, &way))
    words.unknown();
  const bool ftz = words.take("ftz");
  const Type type = words.type();
  words.done();
  Binary handlers = {binary<float, float, float, Divide<false>>, binary<float, float, float, Divide<true>>, nullptr,
                     nullptr, binary<double, double, double, Divide<false>>};
  if (way == "full")
    handlers = {binary<float, float, float, DivideFull<false>>, binary<float, float, float, DivideFull<true>>, nullptr,
                nullptr, nullptr};
  if (way == "approx")
    handlers = {binary<float, float, float, DivideApproximately<false>>,
                binary<float, float, float, DivideApproximately<true>>, nullptr, nullptr, nullptr};
  emit(to, handlers.pick(words, type, ftz, false), type, 3);
}

template <template <bool, bool> class F> Handler choose(bool ftz, bool nan) {
  return ftz   ? nan ? binary<float, float, float, F<true, true>> : binary<float, float, float, F<true, false>>
           : nan ? binary<float, float, float, F<false, true>>
               : binary<float, float, float, F<false, false>>;
}

void extreme(Decoder &to, Modifiers words, bool least) {
  const bool ftz = words.take("ftz"), nan = words.take("NaN");
  const Type type = words.type();
  words.done();
  Handler run = nullptr;
  if (isSmall(type) && !ftz)
    run = least ? nan ? small2<SmallMinimum<true>>(type) : small2<SmallMinimum<false>>(type)
          : nan ? small2<SmallMaximum<true>>(type)
                : small2<SmallMaximum<false>>(type);
  else if (type == Type::F32)
    run = least ? choose<Minimum>(ftz, nan) : choose<Maximum>(ftz, nan);
  else if (type == Type::F64 && !ftz && !nan)
    run = least ? binary<double, double, double, Minimum<false, false>>
                : binary<double, double, double, Maximum<false, false>>;
  if (!run)
    words.unknown();
  emit(to, run, type, 3);
}

void sign(Decoder &to, Modifiers words, bool negates) {
  const bool ftz = words.take("ftz");
  const Type type = words.type();
  words.done();
  if (isSmall(type) && !ftz)
    return emit(to, negates ? small1<SmallNegate>(type) : small1<SmallAbsolute>(type), type, 2);
  emit(to, (negates ? plain1<Negate>() : plain1<Absolute>()).pick(words, type, ftz, false), type, 2);
}

void copySign(Decoder &to, Modifiers words) {
  const Type type = words.type();
  words.done();
  if (type != Type::F32 && type != Type::F64)
    words.unknown();
  emit(to, type == Type::F32 ? binary<float, float, float, CopySign> : binary<double, double, double, CopySign>, type,
       3);
}

// rcp and sqrt: exact or approximate.
template <template <bool> class F> void root(Decoder &to, Modifiers words) {
  if (!words.takeAny({"rn", "approx"}))
    words.unknown();
  const bool ftz = words.take("ftz");
  const Type type = words.type();
  words.done();
  emit(to, plain1<F>().pick(words, type, ftz, false), type, 2);
}

template <template <bool> class F> void approximation(Decoder &to, Modifiers words) {
  if (!words.take("approx"))
    words.unknown();
  const bool ftz = words.take("ftz");
  const Type type = words.type();
  words.done();
  emit(to, approximate1<F>().pick(words, type, ftz, false), type, 2);
}

void reciprocalRoot(Decoder &to, Modifiers words) {
  if (to.source->opcode.back() == "f64") {
    if (!words.take("approx") || !words.take("f64"))
      words.unknown();
    words.done();
    return emit(to, unary<double, double, ReciprocalRoot64>, Type::F64, 2);
  }
  approximation<ReciprocalRoot>(to, words);
}

template <class T> void testProperty(Warp &warp, const Instruction &in, Mask mask) {
  const T *const a = warp.at<T>(in.r[1]);
  Mask result = 0;
  for (int i = 0; i < LANES; ++i) {
    const int kind = std::fpclassify(a[i]);
    const bool holds[] = {kind != FP_INFINITE && kind != FP_NAN,
                          kind == FP_INFINITE,
                          kind != FP_NAN,
                          kind == FP_NAN,
                          kind == FP_NORMAL,
                          kind == FP_SUBNORMAL};
    result |= Mask(holds[in.imm]) << i;
  }
  Mask &d = warp.predicate(in.r[0]);
  d = (d & ~mask) | (result & mask);
}

void property(Decoder &to, Modifiers words) {
  static const char *const NAMES[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  int which = -1;
  for (int i = 0; i < 6 && which < 0; ++i)
    if (words.take(NAMES[i]))
      which = i;
  if (which < 0)
    words.unknown();
  const Type type = words.type();
  words.done();
  if (type != Type::F32 && type != Type::F64)
    words.unknown();
  to.expectOperands(2);
  to.emit(type == Type::F32 ? testProperty<float> : testProperty<double>, {to.definePredicate(to.operand(0))},
          {to.use(to.operand(1), bytesOf(type))})
      .imm = which;
}

// Comparisons; of floats false where one is no number, unless the name ends in u.
struct Equal {
  template <class T> static bool run(T a, T b) { return a == b; }
};
struct NotEqual {
  template <class T> static bool run(T a, T b) { return a < b || a > b; }
};
struct Less {
  template <class T> static bool run(T a, T b) { return a < b; }
};
struct LessOrEqual {
  template <class T> static bool run(T a, T b) { return a <= b; }
};
struct Greater {
  template <class T> static bool run(T a, T b) { return a > b; }
};
struct GreaterOrEqual {
  template <class T> static bool run(T a, T b) { return a >= b; }
};
template <class F> struct OrUnordered {
  template <class T> static bool run(T a, T b) { return a != a || b != b || F::run(a, b); }
};
struct Ordered {
  template <class T> static bool run(T a, T b) { return a == a && b == b; }
};
struct Unordered {
  template <class T> static bool run(T a, T b) { return a != a || b != b; }
};
template <class F> struct Flushing {
  static bool run(float a, float b) { return F::run(flush<true>(a), flush<true>(b)); }
};
template <class H, class F> struct SmallCompare {
  static bool run(uint16_t a, uint16_t b) { return F::run(H{a}.value(), H{b}.value()); }
};

template <class F> Handler compareFloats(Type type, bool ftz) {
  if (type == Type::F32)
    return ftz ? compare<float, Flushing<F>> : compare<float, F>;
  if (ftz)
    return nullptr;
  return type == Type::F64    ? compare<double, F>
         : type == Type::F16  ? compare<uint16_t, SmallCompare<F16, F>>
         : type == Type::BF16 ? compare<uint16_t, SmallCompare<BF16, F>>
                              : nullptr;
}

Handler comparison(const std::string &name, Type type, bool ftz) {
  if (isFloat(type)) {
    if (name == "eq")
      return compareFloats<Equal>(type, ftz);
    if (name == "ne")
      return compareFloats<NotEqual>(type, ftz);
    if (name == "lt")
      return compareFloats<Less>(type, ftz);
    if (name == "le")
      return compareFloats<LessOrEqual>(type, ftz);
    if (name == "gt")
      return compareFloats<Greater>(type, ftz);
    if (name == "ge")
      return compareFloats<GreaterOrEqual>(type, ftz);
    if (name == "equ")
      return compareFloats<OrUnordered<Equal>>(type, ftz);
    if (name == "neu")
      return compareFloats<OrUnordered<NotEqual>>(type, ftz);
    if (name == "ltu")
      return compareFloats<OrUnordered<Less>>(type, ftz);
    if (name == "leu")
      return compareFloats<OrUnordered<LessOrEqual>>(type, ftz);
    if (name == "gtu")
      return compareFloats<OrUnordered<Greater>>(type, ftz);
    if (name == "geu")
      return compareFloats<OrUnordered<GreaterOrEqual>>(type, ftz);
    if (name == "num")
      return compareFloats<Ordered>(type, ftz);
    if (name == "nan")
      return compareFloats<Unordered>(type, ftz);
    return nullptr;
  }
  if (ftz)
    return nullptr;
  if (name == "eq")
    return SIMT_BY_INTEGER(type, (compare<T, Equal>));
  if (name == "ne")
    return SIMT_BY_INTEGER(type, (compare<T, NotEqual>));
  if (type == Type::B16 || type == Type::B32 || type == Type::B64)
    return nullptr;
  if (name == "lt" || name == "lo")
    return SIMT_BY_INTEGER(type, (compare<T, Less>));
  if (name == "le" || name == "ls")
    return SIMT_BY_INTEGER(type, (compare<T, LessOrEqual>));
  if (name == "gt" || name == "hi")
    return SIMT_BY_INTEGER(type, (compare<T, Greater>));
  if (name == "ge" || name == "hs")
    return SIMT_BY_INTEGER(type, (compare<T, GreaterOrEqual>));
  return nullptr;
}

// Combines a comparison with another predicate; imm: and, or, xor, or none; the second result is of the negation.
void combine(Warp &warp, const Instruction &in, Mask mask) {
  const Mask found = warp.predicate(in.r[2]), other = warp.predicate(in.r[3]);
  const auto joined = [&](Mask value) {
    return in.imm == 0 ? value & other : in.imm == 1 ? value | other : in.imm == 2 ? value ^ other : value;
  };
  Mask &first = warp.predicate(in.r[0]), &second = warp.predicate(in.r[1]);
  const Mask a = joined(found), b = joined(~found);
  first = (first & ~mask) | (a & mask);
  second = (second & ~mask) | (b & mask);
}

void setPredicate(Decoder &to, Modifiers words) {
  std::string name, with;
  words.takeAny({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu",
                 "num", "nan"},
                &name);
  words.takeAny({"and", "or", "xor"}, &with);
  const bool ftz = words.take("ftz");
  const Type type = words.type();
  const Handler run = comparison(name, type, ftz);
  if (!run)
    words.unknown();
  if (type == Type::BF16)
    to.needs(90);
  words.done();
  to.expectOperands(with.empty() ? 3 : 4);
  const Ref a = to.use(to.operand(1), bytesOf(type)), b = to.use(to.operand(2), bytesOf(type));
  const bool pair = to.operand(0).kind == ptx::Operand::PAIR;
  if (with.empty() && !pair) {
    to.emit(run, {to.definePredicate(to.operand(0))}, {a, b});
    return;
  }
  const Ref found = to.temporary(1);
  to.emit(run, {found}, {a, b});
  const Ref first = to.definePredicate(pair ? to.operand(0).items[0] : to.operand(0));
  const Ref second = pair ? to.definePredicate(to.operand(0).items[1]) : to.temporary(1);
  const Ref other = with.empty() ? to.constant(0, 4) : to.usePredicate(to.operand(3));
  to.emit(combine, {first, second}, {found, other}).imm = with == "and" ? 0 : with == "or" ? 1 : with == "xor" ? 2 : 3;
}

} // namespace

bool decodeFloat(Decoder &to, Modifiers words, const std::string &name) {
  const std::string &last = to.source->opcode.back();
  if (last != "f32" && last != "f64" && last != "f16" && last != "f16x2" && last != "bf16" && last != "bf16x2")
    return false;
  if (name == "add" || name == "sub" || name == "mul" || name == "fma")
    arithmetic(to, words, name);
  else if (name == "div")
    division(to, words);
  else if (name == "min" || name == "max")
    extreme(to, words, name == "min");
  else if (name == "abs" || name == "neg")
    sign(to, words, name == "neg");
  else
    return false;
  return true;
}

void addFloat(Table &table) {
  table["fma"] = [](Decoder &to, Modifiers words) { arithmetic(to, words, "fma"); };
  table["copysign"] = copySign;
  table["rcp"] = root<Reciprocal>;
  table["sqrt"] = root<SquareRoot>;
  table["rsqrt"] = reciprocalRoot;
  table["ex2"] = approximation<Exponential>;
  table["lg2"] = approximation<Logarithm>;
  table["sin"] = approximation<Sine>;
  table["cos"] = approximation<Cosine>;
  table["tanh"] = approximation<HyperbolicTangent>;
  table["testp"] = property;
  table["setp"] = setPredicate;
}

} // namespace simt
