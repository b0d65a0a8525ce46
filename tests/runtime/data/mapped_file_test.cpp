// A file that shrinks under its mapping is an error, not the end of the program.
#include "data/mapped_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <numeric>

#include "support/expect_error.h"
#include "support/program.h"

namespace burin::runtime {
namespace {

int64_t sumOf(std::string_view bytes) { return std::accumulate(bytes.begin(), bytes.end(), int64_t{0}); }

TEST(MappedFileTest, AFileThatShrinksIsAnError) {
  test::Folder folder;
  std::string path = folder.write("data", std::string(100'000, 'x'));
  MappedFile file(path), other(folder.write("other", "whole"));
  file.expectWhole();
  ASSERT_EQ(truncate(path.c_str(), 5000), 0);
  EXPECT_EQ(sumOf(file.bytes().substr(50'000)), 0) << "zeros where the file was, and no signal";
  EXPECT_ERROR(file.expectWhole(),
               "data file " + path +
                   " was cut off while it was in use: it has 5000 bytes now, 100000 when it was opened");
  // Even if it has its length again: what was read in between was not the file's.
  ASSERT_EQ(truncate(path.c_str(), 100'000), 0);
  EXPECT_ERROR(file.expectWhole(), "could not be read");
  other.expectWhole();
  MappedFile(path).expectWhole();
}

// The rest of the last page reads as zeros and raises nothing.
TEST(MappedFileTest, AnEndWithinAPageIsNoticedToo) {
  test::Folder folder;
  std::string path = folder.write("data", std::string(3000, 'x'));
  MappedFile file(path);
  ASSERT_EQ(truncate(path.c_str(), 2999), 0);
  EXPECT_EQ(sumOf(file.bytes()), 2999 * 'x');
  EXPECT_ERROR(file.expectWhole(), "it has 2999 bytes now, 3000 when it was opened");
}

TEST(MappedFileTest, WhatIsReleasedCanBeReadAgain) {
  test::Folder folder;
  MappedFile file(folder.write("data", std::string(100'000, 'x')));
  for (auto [begin, end] : {std::pair(0, 100'000), {5000, 90'000}, {10, 20}, {100'000, 100'000}}) {
    file.release(static_cast<uint64_t>(begin), static_cast<uint64_t>(end));
    EXPECT_EQ(sumOf(file.bytes()), 100'000 * 'x');
  }
  file.expectWhole();
}

TEST(MappedFileTest, AForeignBusErrorStillEndsTheProgram) {
  test::Folder folder;
  MappedFile file(folder.write("data", "x"));
  EXPECT_EXIT(std::raise(SIGBUS), testing::KilledBySignal(SIGBUS), "");
}

} // namespace
} // namespace burin::runtime
