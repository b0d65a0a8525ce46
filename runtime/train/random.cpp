// Only operations that IEEE 754 rounds exactly appear here (+ - * / sqrt), and this file is compiled without
// contraction: libm's logarithm may differ in the last bit between machines, and a seed must not.
#include "train/random.h"

#include <bit>
#include <cmath>

#include "hash.h"

namespace burin::runtime {
namespace {

__extension__ using Wide = unsigned __int128;

uint64_t mix(uint64_t x) { // the finalizer of splitmix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// log(x) for normal positive x: x = m * 2^e with m in [sqrt(1/2), sqrt(2)), log m = 2 atanh((m - 1) / (m + 1)).
double exactLog(double x) {
  constexpr uint64_t mantissa = (uint64_t{1} << 52) - 1;
  uint64_t bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & mantissa) | (uint64_t{1023} << 52));
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  double t = (m - 1) / (m + 1), square = t * t, sum = 0;
  for (int k = 21; k >= 1; k -= 2) // |t| < 0.172: the next term is below 1e-18
    sum = sum * square + 1.0 / k;
  return exponent * 0.6931471805599453 + 2 * t * sum;
}

template <int size> double polynomial(const double (&coefficients)[size], double x) {
  double value = 0;
  for (int i = size - 1; i >= 0; --i)
    value = value * x + coefficients[i];
  return value;
}

} // namespace

Philox philox(Philox counter, uint32_t key0, uint32_t key1) {
  auto &[c0, c1, c2, c3] = counter.word;
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = uint64_t{0xD2511F53} * c0, product1 = uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<uint32_t>(product1 >> 32) ^ c1 ^ key0;
    c1 = static_cast<uint32_t>(product1);
    c2 = static_cast<uint32_t>(product0 >> 32) ^ c3 ^ key1;
    c3 = static_cast<uint32_t>(product0);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

Random::Random(uint64_t seed, std::string_view stream) { key_ = mix(fnv1a(stream) ^ mix(seed + 0x9e3779b97f4a7c15u)); }

uint64_t Random::bits(uint64_t index, uint64_t attempt) const {
  Philox counter{{static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), static_cast<uint32_t>(attempt),
                  static_cast<uint32_t>(attempt >> 32)}};
  Philox out = philox(counter, static_cast<uint32_t>(key_), static_cast<uint32_t>(key_ >> 32));
  return uint64_t{out.word[1]} << 32 | out.word[0];
}

double Random::uniform(uint64_t index, uint64_t attempt) const {
  return (static_cast<double>(bits(index, attempt) >> 12) + 0.5) * 0x1p-52;
}

uint64_t Random::below(uint64_t count, uint64_t index) const {
  // The high half of a 128-bit product: the bias is count / 2^64.
  return static_cast<uint64_t>(static_cast<Wide>(bits(index)) * count >> 64);
}

double Random::normal(uint64_t index, uint64_t attempt) const { return normalQuantile(uniform(index, attempt)); }

// Wichura's algorithm AS 241 (PPND16), relative error about 1e-16.
double normalQuantile(double p) {
  static constexpr double a[] = {3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427,
                                 13731.693765509461125, 45921.953931549871457, 67265.770927008700853,
                                 33430.575583588128105, 2509.0809287301226727};
  static constexpr double b[] = {1.0,
                                 42.313330701600911252,
                                 687.18700749205790830,
                                 5394.1960214247511077,
                                 21213.794301586595867,
                                 39307.895800092710610,
                                 28729.085735721942674,
                                 5226.4952788528545610};
  static constexpr double c[] = {1.42343711074968357734,   4.63033784615654529590,   5.76949722146069140550,
                                 3.64784832476320460504,   1.27045825245236838258,   0.241780725177450611770,
                                 0.0227238449892691845833, 7.74545014278341407640e-4};
  static constexpr double d[] = {1.0,
                                 2.05319162663775882187,
                                 1.67638483018380384940,
                                 0.689767334985100004550,
                                 0.148103976427480074590,
                                 0.0151986665636164571966,
                                 5.47593808499534494600e-4,
                                 1.05075007164441684324e-9};
  static constexpr double e[] = {6.65790464350110377720,    5.46378491116411436990,   1.78482653991729133580,
                                 0.296560571828504891230,   0.0265321895265761230930, 0.00124266094738807843860,
                                 2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double f[] = {1.0,
                                 0.599832206555887937690,
                                 0.136929880922735805310,
                                 0.0148753612908506148525,
                                 7.86869131145613259100e-4,
                                 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7,
                                 2.04426310338993978564e-15};
  double q = p - 0.5;
  if (q >= -0.425 && q <= 0.425) {
    double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  double r = std::sqrt(-exactLog(q < 0 ? p : 1 - p));
  double x = r <= 5 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6) : polynomial(e, r - 5) / polynomial(f, r - 5);
  return q < 0 ? -x : x;
}

} // namespace burin::runtime
