// XXH64 (seed 0), the checksum of token files: `xxhsum -H1` of the ids' bytes says the same. Several bytes a cycle, so
// that a file can be checked whenever it is opened.
//
//   Checksum sum;
//   sum.add(bytes); ...
//   sum.value()
#pragma once
#include <cstdint>
#include <string_view>

namespace burin::runtime {

class Checksum {
public:
  void add(std::string_view bytes);
  uint64_t value() const;

private:
  void block(const char *bytes);

  uint64_t lanes_[4] = {0x60EA27EEADC0B5D6u, 0xC2B2AE3D27D4EB4Fu, 0, 0x61C8864E7A143579u};
  uint64_t total_ = 0;
  char rest_[32] = {};
};

inline uint64_t checksumOf(std::string_view bytes) {
  Checksum sum;
  sum.add(bytes);
  return sum.value();
}

} // namespace burin::runtime
