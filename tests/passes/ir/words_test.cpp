// Verifiers of the structural ops refuse what later stages could not compute.
#include <gtest/gtest.h>

#include "tests/passes/ir/support.h"

namespace burin::test {
namespace {

TEST(Group, YieldsWhatItGives) {
  Reader reader;
  EXPECT_NE(reader
                .errorOf("%x: tensor<8xf32>", R"(
    %y = burin.group "rows" (%x) : (tensor<8xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<8xf32>):
      burin.yield %a : tensor<8xf32>
    })")
                .find("but its body yields"),
            std::string::npos);
}

TEST(Group, HoldsOpsOfTheDialectOnly) {
  Reader reader;
  EXPECT_NE(reader
                .errorOf("%x: tensor<8xf32>", R"(
    %y = burin.group "rows" (%x) : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<8xf32>):
      func.call @g() : () -> ()
      burin.yield %a : tensor<8xf32>
    })")
                .find("cannot be part of a group"),
            std::string::npos);
}

TEST(Contract, TakesPlainAndPackedRightSides) {
  Reader reader;
  EXPECT_EQ(reader.errorOf("%c: memref<4x6xf32>, %a: memref<4x8xf32, strided<[1, 4], offset: ?>>, %b: memref<8x6xf32, "
                           "strided<[10, 1]>>, %p: memref<2x8x5xf32>",
                           R"(
    burin.contract %c, %a, %b : memref<4x6xf32>, memref<4x8xf32, strided<[1, 4], offset: ?>>, memref<8x6xf32, strided<[10, 1]>>
    burin.contract %c, %a, %p accumulate : memref<4x6xf32>, memref<4x8xf32, strided<[1, 4], offset: ?>>, memref<2x8x5xf32>)"),
            "");
}

TEST(Contract, RefusesWhatItsKernelCannotRead) {
  Reader reader;
  // The inner dimensions differ.
  EXPECT_NE(reader
                .errorOf("%c: memref<4x6xf32>, %a: memref<4x8xf32>, %b: memref<7x6xf32>",
                         "burin.contract %c, %a, %b : memref<4x6xf32>, memref<4x8xf32>, memref<7x6xf32>")
                .find("expected b to be 8 x 6"),
            std::string::npos);
  // Columns of b are not neighbours.
  EXPECT_NE(
      reader
          .errorOf("%c: memref<4x6xf32>, %a: memref<4x8xf32>, %b: memref<8x6xf32, strided<[1, 8]>>",
                   "burin.contract %c, %a, %b : memref<4x6xf32>, memref<4x8xf32>, memref<8x6xf32, strided<[1, 8]>>")
          .find("unit stride"),
      std::string::npos);
  // One panel too few.
  EXPECT_NE(reader
                .errorOf("%c: memref<4x6xf32>, %a: memref<4x8xf32>, %b: memref<1x8x5xf32>",
                         "burin.contract %c, %a, %b : memref<4x6xf32>, memref<4x8xf32>, memref<1x8x5xf32>")
                .find("expected contiguous panels that hold 8 x 6"),
            std::string::npos);
  // What lies ahead runs across.
  EXPECT_NE(reader
                .errorOf("%c: memref<4x6xf32>, %a: memref<4x8xf32>, %b: memref<8x6xf32>, %n: memref<8x4xf32, "
                         "strided<[1, 8]>>",
                         "burin.contract %c, %a, %b ahead %n : memref<4x6xf32>, memref<4x8xf32>, memref<8x6xf32>, "
                         "memref<8x4xf32, strided<[1, 8]>>")
                .find("unit stride along the last dimension of what lies ahead"),
            std::string::npos);
  // A run-time stride.
  EXPECT_NE(
      reader
          .errorOf("%c: memref<4x6xf32>, %a: memref<4x8xf32, strided<[?, 1]>>, %b: memref<8x6xf32>",
                   "burin.contract %c, %a, %b : memref<4x6xf32>, memref<4x8xf32, strided<[?, 1]>>, memref<8x6xf32>")
          .find("static strides"),
      std::string::npos);
}

TEST(Pack, PanelsHoldTheSource) {
  Reader reader;
  EXPECT_EQ(reader.errorOf("%s: memref<8x6xf32, strided<[1, 8]>>, %p: memref<2x8x5xf32>",
                           "burin.pack %s, %p : memref<8x6xf32, strided<[1, 8]>>, memref<2x8x5xf32>"),
            "");
  EXPECT_NE(reader
                .errorOf("%s: memref<8x6xf32>, %p: memref<2x6x5xf32>",
                         "burin.pack %s, %p : memref<8x6xf32>, memref<2x6x5xf32>")
                .find("expected contiguous panels that hold 8 x 6"),
            std::string::npos);
}

} // namespace
} // namespace burin::test
