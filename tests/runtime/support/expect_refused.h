// Holds a program to refusing what it was asked: one line on standard error that starts with "error: " and says
// something given, nothing else, and this exit code.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/program.h"

namespace burin::test {

inline void expectRefused(const Result &result, int code, const std::string &message) {
  EXPECT_EQ(result.code, code) << result.err;
  EXPECT_EQ(result.err.rfind("error: ", 0), 0u) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_NE(result.err.find(message), std::string::npos) << "said:     " << result.err << "expected: " << message;
  EXPECT_EQ(result.err.find("internal error"), std::string::npos);
}

} // namespace burin::test
