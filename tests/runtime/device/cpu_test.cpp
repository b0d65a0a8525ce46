// What the CPU can do is found whether the system lists it or cpuid tells it, and what it lacks is named.
#include "device/cpu.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace burin::runtime {
namespace {

// Everything that the system lists is found, whether through cpuid or through the list.
TEST(Cpu, AgreesWithTheSystem) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && !line.starts_with("flags") && !line.starts_with("Features"))
    ;
  std::istringstream flags(line.substr(std::min(line.find(':'), line.size() - 1) + 1));
  int count = 0;
  for (std::string flag; flags >> flag; ++count)
    EXPECT_TRUE(cpuHas(flag)) << flag;
  EXPECT_GT(count, 0);
}

TEST(Cpu, NamesWhatIsMissing) {
  EXPECT_EQ(missingFeatures(""), std::vector<std::string>{});
  EXPECT_EQ(missingFeatures("warp_drive, ,flux"), (std::vector<std::string>{"warp_drive", "flux"}));
}

} // namespace
} // namespace burin::runtime
