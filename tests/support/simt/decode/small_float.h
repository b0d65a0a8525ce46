// f16 and bf16: to double and back. Rounding is done once, from a double that holds the exact value or one that is
// rounded to odd, so that ties are ties.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace simt {

template <int MantissaBits, int ExponentBits> struct SmallFloat {
  uint16_t bits;

  static constexpr int BIAS = (1 << (ExponentBits - 1)) - 1;
  static constexpr uint16_t INFINITE = uint16_t(((1 << ExponentBits) - 1) << MantissaBits), NOT_A_NUMBER = 0x7fff;

  double value() const {
    const int exponent = bits >> MantissaBits & ((1 << ExponentBits) - 1), mantissa = bits & ((1 << MantissaBits) - 1);
    double result;
    if (exponent == (1 << ExponentBits) - 1)
      result = mantissa ? NAN : INFINITY;
    else if (exponent == 0)
      result = std::ldexp(mantissa, 1 - BIAS - MantissaBits);
    else
      result = std::ldexp(mantissa + (1 << MantissaBits), exponent - BIAS - MantissaBits);
    return bits & 0x8000 ? -result : result;
  }

  // To nearest even, or towards zero.
  static SmallFloat from(double value, bool towardsZero = false) {
    const uint64_t all = std::bit_cast<uint64_t>(value);
    const uint16_t sign = uint16_t(all >> 48 & 0x8000);
    if (value != value)
      return {NOT_A_NUMBER};
    if (std::isinf(value))
      return {uint16_t(sign | INFINITE)};
    int exponent = int(all >> 52 & 0x7ff) - 1023;
    if (exponent == -1023)
      return {sign}; // far below what is left of these types
    const uint64_t mantissa = (all & ((uint64_t(1) << 52) - 1)) | uint64_t(1) << 52;
    int shift = 52 - MantissaBits;
    int64_t base = 0; // the code without the mantissa, which brings one unit of the exponent along
    if (exponent < 1 - BIAS)
      shift += 1 - BIAS - exponent;
    else
      base = int64_t(exponent + BIAS - 1) << MantissaBits;
    uint64_t kept = 0;
    if (shift < 64) {
      kept = mantissa >> shift;
      const uint64_t rest = mantissa & ((uint64_t(1) << shift) - 1), half = uint64_t(1) << (shift - 1);
      if (!towardsZero && (rest > half || (rest == half && kept & 1)))
        ++kept;
    }
    const int64_t code = base + (int64_t)kept;
    if (code >= INFINITE)
      return {uint16_t(sign | (towardsZero ? INFINITE - 1 : INFINITE))};
    return {uint16_t(sign | code)};
  }
};

using F16 = SmallFloat<10, 5>;
using BF16 = SmallFloat<7, 8>;

inline float fromBf16(uint16_t bits) { return std::bit_cast<float>((uint32_t)bits << 16); }

// The same as BF16::from, in steps that become vectors.
inline uint16_t toBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return value != value ? 0x7fff : uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// a * b + c for small a, b, c; where a double cannot hold it, rounded to odd.
inline double fusedToOdd(double a, double b, double c) {
  const double product = a * b, sum = product + c; // the product is exact
  const double back = sum - product;
  const double lost = (product - (sum - back)) + (c - back);
  if (lost == 0 || lost != lost || std::isinf(sum))
    return sum;
  const uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (bits & 1)
    return sum;
  return std::bit_cast<double>((lost > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

} // namespace simt
