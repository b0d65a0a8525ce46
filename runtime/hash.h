// FNV-1a, for fingerprints and the names of random streams: nothing that must withstand an attack.
#pragma once

#include <cstdint>
#include <string_view>

namespace burin::runtime {

// The hash of everything so far, and of these bytes after it.
constexpr uint64_t fnv1a(std::string_view bytes, uint64_t hash = 0xcbf29ce484222325u) {
  for (char c : bytes)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

} // namespace burin::runtime
