// The hash of dropout as its ops' descriptions have it: what their references are made of.
#pragma once

#include <cmath>
#include <cstdint>

#include "tests/ops/elementwise.h"

namespace burin::test {

inline uint32_t mixed(uint32_t h) {
  h ^= h >> 16;
  h *= 0x7feb352du;
  h ^= h >> 15;
  h *= 0x846ca68bu;
  return h ^ h >> 16;
}

// An i32 as the bits that are hashed.
inline uint32_t bitsOf(double integer) { return static_cast<uint32_t>(static_cast<int32_t>(integer)); }

inline uint32_t placeHash(uint32_t key, int64_t id, double row, double position, double column) {
  const uint32_t start = mixed(key + static_cast<uint32_t>(id) * 0x9e3779b9u);
  return mixed(mixed(mixed(start + bitsOf(row)) + bitsOf(position)) + bitsOf(column));
}

inline double dropoutFactor(uint32_t key, uint32_t hash, double rate) {
  return key == 0 ? 1 : static_cast<double>(hash >> 1) < std::round(rate * 0x1p31) ? 0 : 1 / (1 - rate);
}

} // namespace burin::test
