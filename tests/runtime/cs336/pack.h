// The cases of a public course's test pack, which is read where it lies.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "support/program.h"

namespace burin::test {

// Derived from by a fixture; `Case` has the members folder and description, in this order.
template <typename Case> struct PackTest : testing::Test {
  std::vector<Case> cases;

  // All cases with this op, found by their case.json. A folder that was asked for and holds none is a fault.
  void find(const std::string &op) {
    const char *chosen = std::getenv("BURIN_CS336");
    std::filesystem::path pack = chosen ? chosen : BURIN_CS336_DEFAULT;
    if (!chosen && !std::filesystem::exists(pack))
      GTEST_SKIP() << "the test pack is not at " << pack << " (set BURIN_CS336)";
    for (const auto &entry : std::filesystem::recursive_directory_iterator(pack))
      if (entry.path().filename() == "case.json")
        if (auto description = nlohmann::json::parse(readFile(entry.path())); description["op"] == op)
          cases.push_back({entry.path().parent_path(), description});
    ASSERT_FALSE(cases.empty()) << "no case of " << op << " below " << pack;
  }
};

} // namespace burin::test
