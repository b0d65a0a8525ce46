// After the specification of xxHash (Y. Collet). Words are read as they lie, which is little-endian here.
#include "data/checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace burin::runtime {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint64_t prime1 = 0x9E3779B185EBCA87u, prime2 = 0xC2B2AE3D27D4EB4Fu, prime3 = 0x165667B19E3779F9u,
                   prime4 = 0x85EBCA77C2B2AE63u, prime5 = 0x27D4EB2F165667C5u;

template <typename Word> Word read(const char *bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

uint64_t round(uint64_t lane, uint64_t word) { return std::rotl(lane + word * prime2, 31) * prime1; }

} // namespace

void Checksum::block(const char *bytes) {
  for (int i = 0; i < 4; ++i)
    lanes_[i] = round(lanes_[i], read<uint64_t>(bytes + 8 * i));
}

void Checksum::add(std::string_view bytes) {
  if (bytes.empty())
    return;
  size_t waiting = total_ % sizeof rest_;
  total_ += bytes.size();
  if (waiting) {
    size_t taken = std::min(sizeof rest_ - waiting, bytes.size());
    std::memcpy(rest_ + waiting, bytes.data(), taken);
    bytes.remove_prefix(taken);
    if (waiting + taken < sizeof rest_)
      return;
    block(rest_);
  }
  for (; bytes.size() >= sizeof rest_; bytes.remove_prefix(sizeof rest_))
    block(bytes.data());
  std::copy(bytes.begin(), bytes.end(), rest_);
}

uint64_t Checksum::value() const {
  uint64_t hash = prime5;
  if (total_ >= sizeof rest_) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
    for (uint64_t lane : lanes_)
      hash = (hash ^ round(0, lane)) * prime1 + prime4;
  }
  hash += total_;
  std::string_view rest(rest_, total_ % sizeof rest_);
  for (; rest.size() >= 8; rest.remove_prefix(8))
    hash = std::rotl(hash ^ round(0, read<uint64_t>(rest.data())), 27) * prime1 + prime4;
  for (; rest.size() >= 4; rest.remove_prefix(4))
    hash = std::rotl(hash ^ read<uint32_t>(rest.data()) * prime1, 23) * prime2 + prime3;
  for (char byte : rest)
    hash = std::rotl(hash ^ static_cast<unsigned char>(byte) * prime5, 11) * prime1;
  hash = (hash ^ (hash >> 33)) * prime2;
  hash = (hash ^ (hash >> 29)) * prime3;
  return hash ^ (hash >> 32);
}

} // namespace burin::runtime
