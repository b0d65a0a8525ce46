// Token files as others write them, byte by byte, for tests that read them.
#pragma once
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace burin::test {

template <typename T> std::string bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

// 0, 1, 2, ... below `modulus`, again and again.
template <typename T = uint16_t> std::vector<T> countedUp(size_t count, int64_t modulus = 1 << 16) {
  std::vector<T> ids(count);
  for (size_t i = 0; i < count; ++i)
    ids[i] = static_cast<T>(static_cast<int64_t>(i) % modulus);
  return ids;
}

inline std::string llmcFile(const std::vector<uint16_t> &ids, int32_t count, int32_t version = 1) {
  std::vector<int32_t> header(256);
  header[0] = 20240520;
  header[1] = version;
  header[2] = count;
  return bytesOf(header) + bytesOf(ids);
}

inline std::string npyFile(const std::string &type, const std::string &shape, const std::string &data) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  return "\x93NUMPY" + std::string("\x01\x00", 2) + bytesOf<uint16_t>({static_cast<uint16_t>(header.size())}) + header +
         data;
}

} // namespace burin::test
