// Holds a statement to failing with an Error that says something given.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "error.h"

#define EXPECT_ERROR(statement, expected)                                                                              \
  do {                                                                                                                 \
    std::string said = "no error";                                                                                     \
    try {                                                                                                              \
      (void)(statement);                                                                                               \
    } catch (const burin::runtime::Error &error) {                                                                     \
      said = error.what();                                                                                             \
    }                                                                                                                  \
    EXPECT_NE(said.find(expected), std::string::npos) << "said:     " << said << "\nexpected: " << (expected);         \
  } while (0)
