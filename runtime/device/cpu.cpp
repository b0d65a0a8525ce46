// On x86 the CPU is asked directly, and a feature counts only when the system also saves its registers: a flag that
// the system has not enabled would crash all the same. Elsewhere the system's own list is read.
#include "device/cpu.h"

#include <cstdint>
#include <cstdio>
#include <fstream>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace burin::runtime {
namespace {

std::string_view trim(std::string_view text) {
  size_t first = text.find_first_not_of(" \t");
  return first == text.npos ? std::string_view{} : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The value of the first line `key : value` of /proc/cpuinfo.
std::string cpuinfo(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    size_t colon = line.find(':');
    if (colon != line.npos && trim(std::string_view(line).substr(0, colon)) == key)
      return std::string(trim(std::string_view(line).substr(colon + 1)));
  }
  return {};
}

#if defined(__x86_64__)

enum Register : uint8_t { eax, ebx, ecx, edx };
// The register sets that the system must save and restore, as bits of XCR0.
enum System : uint32_t { none = 0, avx = 0x6, avx512 = 0xe6, amx = 0x60000 };

struct Feature {
  std::string_view name;
  uint32_t leaf, subleaf;
  Register reg;
  uint8_t bit;
  System system;
};

constexpr Feature known[] = {
    {"fpu", 1, 0, edx, 0, none},
    {"cx8", 1, 0, edx, 8, none},
    {"cmov", 1, 0, edx, 15, none},
    {"mmx", 1, 0, edx, 23, none},
    {"fxsr", 1, 0, edx, 24, none},
    {"sse", 1, 0, edx, 25, none},
    {"sse2", 1, 0, edx, 26, none},
    {"pni", 1, 0, ecx, 0, none},
    {"sse3", 1, 0, ecx, 0, none},
    {"pclmulqdq", 1, 0, ecx, 1, none},
    {"ssse3", 1, 0, ecx, 9, none},
    {"fma", 1, 0, ecx, 12, avx},
    {"cx16", 1, 0, ecx, 13, none},
    {"sse4_1", 1, 0, ecx, 19, none},
    {"sse4_2", 1, 0, ecx, 20, none},
    {"movbe", 1, 0, ecx, 22, none},
    {"popcnt", 1, 0, ecx, 23, none},
    {"aes", 1, 0, ecx, 25, none},
    {"xsave", 1, 0, ecx, 26, none},
    {"avx", 1, 0, ecx, 28, avx},
    {"f16c", 1, 0, ecx, 29, avx},
    {"rdrand", 1, 0, ecx, 30, none},
    {"fsgsbase", 7, 0, ebx, 0, none},
    {"bmi1", 7, 0, ebx, 3, none},
    {"avx2", 7, 0, ebx, 5, avx},
    {"bmi2", 7, 0, ebx, 8, none},
    {"avx512f", 7, 0, ebx, 16, avx512},
    {"avx512dq", 7, 0, ebx, 17, avx512},
    {"rdseed", 7, 0, ebx, 18, none},
    {"adx", 7, 0, ebx, 19, none},
    {"avx512ifma", 7, 0, ebx, 21, avx512},
    {"clflushopt", 7, 0, ebx, 23, none},
    {"clwb", 7, 0, ebx, 24, none},
    {"avx512cd", 7, 0, ebx, 28, avx512},
    {"sha_ni", 7, 0, ebx, 29, none},
    {"avx512bw", 7, 0, ebx, 30, avx512},
    {"avx512vl", 7, 0, ebx, 31, avx512},
    {"avx512vbmi", 7, 0, ecx, 1, avx512},
    {"avx512_vbmi2", 7, 0, ecx, 6, avx512},
    {"gfni", 7, 0, ecx, 8, none},
    {"vaes", 7, 0, ecx, 9, avx},
    {"vpclmulqdq", 7, 0, ecx, 10, avx},
    {"avx512_vnni", 7, 0, ecx, 11, avx512},
    {"avx512_bitalg", 7, 0, ecx, 12, avx512},
    {"avx512_vpopcntdq", 7, 0, ecx, 14, avx512},
    {"rdpid", 7, 0, ecx, 22, none},
    {"avx512_vp2intersect", 7, 0, edx, 8, avx512},
    {"amx_bf16", 7, 0, edx, 22, amx},
    {"avx512_fp16", 7, 0, edx, 23, avx512},
    {"amx_tile", 7, 0, edx, 24, amx},
    {"amx_int8", 7, 0, edx, 25, amx},
    {"avx_vnni", 7, 1, eax, 4, avx},
    {"avx512_bf16", 7, 1, eax, 5, avx512},
    {"amx_fp16", 7, 1, eax, 21, amx},
    {"xsaveopt", 0xd, 1, eax, 0, none},
    {"xsavec", 0xd, 1, eax, 1, none},
    {"lahf_lm", 0x80000001, 0, ecx, 0, none},
    {"abm", 0x80000001, 0, ecx, 5, none},
    {"lzcnt", 0x80000001, 0, ecx, 5, none},
    {"sse4a", 0x80000001, 0, ecx, 6, none},
    {"3dnowprefetch", 0x80000001, 0, ecx, 8, none},
    {"fma4", 0x80000001, 0, ecx, 16, avx},
    {"xop", 0x80000001, 0, ecx, 11, avx},
    {"lm", 0x80000001, 0, edx, 29, none},
};

uint32_t savedBySystem() {
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 27)))
    return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0)); // the intrinsic would need -mxsave for this file
  return low;
}

#endif

} // namespace

bool cpuHas(std::string_view feature) {
#if defined(__x86_64__)
  for (const Feature &candidate : known) {
    if (candidate.name != feature)
      continue;
    uint32_t value[4];
    if (!__get_cpuid_count(candidate.leaf, candidate.subleaf, &value[eax], &value[ebx], &value[ecx], &value[edx]))
      return false;
    return (value[candidate.reg] >> candidate.bit & 1u) && (savedBySystem() & candidate.system) == candidate.system;
  }
#endif
  // A name that is not in the table may still be one that a newer system knows.
  static const std::string flags = ' ' + cpuinfo("flags") + ' ' + cpuinfo("Features") + ' ';
  return flags.find(' ' + std::string(feature) + ' ') != flags.npos;
}

std::vector<std::string> missingFeatures(std::string_view features) {
  std::vector<std::string> missing;
  while (!features.empty()) {
    size_t comma = features.find(',');
    std::string_view feature = trim(features.substr(0, comma));
    if (!feature.empty() && !cpuHas(feature))
      missing.emplace_back(feature);
    features = comma == features.npos ? std::string_view{} : features.substr(comma + 1);
  }
  return missing;
}

std::string cpuName() {
  std::string name = cpuinfo("model name");
  return name.empty() ? "unknown CPU" : name;
}

} // namespace burin::runtime
