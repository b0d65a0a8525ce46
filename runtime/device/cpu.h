// What the machine's CPU can do, in the words of /proc/cpuinfo.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace burin::runtime {

bool cpuHas(std::string_view feature);

// Those of a comma-separated list that the machine lacks.
std::vector<std::string> missingFeatures(std::string_view features);

// "AMD EPYC 9B14", or "unknown CPU".
std::string cpuName();

} // namespace burin::runtime
