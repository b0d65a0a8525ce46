// Handlers made of a function on one lane's values.
#pragma once
#include "../machine/warp.h"
#include "decode.h"

namespace simt {

template <class D, class A, class F> void unary(Warp &warp, const Instruction &in, Mask mask) {
  D *const d = warp.at<D>(in.r[0]);
  const A *const a = warp.at<A>(in.r[1]);
  forLanes(mask, [&](int i) { d[i] = F::run(a[i]); });
}

template <class D, class A, class B, class F> void binary(Warp &warp, const Instruction &in, Mask mask) {
  D *const d = warp.at<D>(in.r[0]);
  const A *const a = warp.at<A>(in.r[1]);
  const B *const b = warp.at<B>(in.r[2]);
  forLanes(mask, [&](int i) { d[i] = F::run(a[i], b[i]); });
}

template <class D, class A, class B, class C, class F> void ternary(Warp &warp, const Instruction &in, Mask mask) {
  D *const d = warp.at<D>(in.r[0]);
  const A *const a = warp.at<A>(in.r[1]);
  const B *const b = warp.at<B>(in.r[2]);
  const C *const c = warp.at<C>(in.r[3]);
  forLanes(mask, [&](int i) { d[i] = F::run(a[i], b[i], c[i]); });
}

// One of the predicate's bits for each lane; the others stay.
template <class A, class F> void compare(Warp &warp, const Instruction &in, Mask mask) {
  const A *const a = warp.at<A>(in.r[1]);
  const A *const b = warp.at<A>(in.r[2]);
  Mask result = 0;
  for (int i = 0; i < LANES; ++i)
    result |= Mask(F::run(a[i], b[i])) << i;
  Mask &d = warp.predicate(in.r[0]);
  d = (d & ~mask) | (result & mask);
}

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Unsigned128;

template <class T> struct Wider;
template <> struct Wider<int16_t> { using Type = int32_t; };
template <> struct Wider<uint16_t> { using Type = uint32_t; };
template <> struct Wider<int32_t> { using Type = int64_t; };
template <> struct Wider<uint32_t> { using Type = uint64_t; };
template <> struct Wider<int64_t> { using Type = Int128; };
template <> struct Wider<uint64_t> { using Type = Unsigned128; };

// The handler for an integer type of 16 bits or more; null for another type. Bits count as unsigned.
#define SIMT_BY_INTEGER(type, ...)                                                                                     \
  [&]() -> Handler {                                                                                                   \
    switch (type) {                                                                                                    \
    case Type::B16:                                                                                                    \
    case Type::U16: {                                                                                                  \
      using T = uint16_t;                                                                                              \
      return __VA_ARGS__;                                                                                              \
    }                                                                                                                  \
    case Type::B32:                                                                                                    \
    case Type::U32: {                                                                                                  \
      using T = uint32_t;                                                                                              \
      return __VA_ARGS__;                                                                                              \
    }                                                                                                                  \
    case Type::B64:                                                                                                    \
    case Type::U64: {                                                                                                  \
      using T = uint64_t;                                                                                              \
      return __VA_ARGS__;                                                                                              \
    }                                                                                                                  \
    case Type::S16: {                                                                                                  \
      using T = int16_t;                                                                                               \
      return __VA_ARGS__;                                                                                              \
    }                                                                                                                  \
    case Type::S32: {                                                                                                  \
      using T = int32_t;                                                                                               \
      return __VA_ARGS__;                                                                                              \
    }                                                                                                                  \
    case Type::S64: {                                                                                                  \
      using T = int64_t;                                                                                               \
      return __VA_ARGS__;                                                                                              \
    }                                                                                                                  \
    default:                                                                                                           \
      return nullptr;                                                                                                  \
    }                                                                                                                  \
  }()

} // namespace simt
