// Result types and shape errors come from the rules of dsl/ops: what a model author reads is what a reader of the IR
// reads.
#include <gtest/gtest.h>

#include "passes/ops/ops.h"
#include "tests/passes/ir/support.h"

namespace burin::test {
namespace {

TEST(Infer, ResultTypesFollowFromOperands) {
  Reader reader;
  auto module = reader.read(R"(func.func @f(%x: tensor<2x8x16xf32>, %w: tensor<32x16xf32>) -> tensor<2x8x32xf32> {
    %y = burin.matmul %x, %w transpose_b : tensor<2x8x16xf32>, tensor<32x16xf32>
    return %y : tensor<2x8x32xf32>
  })");
  ASSERT_TRUE(module) << testing::PrintToString(reader.messages);
}

TEST(Infer, MasksAreIntegers) {
  Reader reader;
  EXPECT_EQ(reader.errorOf("%i: tensor<8x1xi32>, %j: tensor<8xi32>", R"(
    %a = burin.greater_equal %i, %j : tensor<8x1xi32>, tensor<8xi32>
    %b = burin.mul %a, %a : tensor<8x8xi32>, tensor<8x8xi32>)"),
            "");
}

struct Wrong {
  const char *arguments, *op, *message;
};

TEST(Infer, ShapeErrorsAreThoseOfTheDsl) {
  const Wrong cases[] = {
      {"%x: tensor<8x16xf32>, %w: tensor<15x4xf32>", "%y = burin.matmul %x, %w : tensor<8x16xf32>, tensor<15x4xf32>",
       "the inner dimensions of a matmul must agree: a is [8, 16], b is [15, 4], transpose_a is false, transpose_b is "
       "false"},
      {"%x: tensor<8x16xf32>, %y: tensor<8xf32>", "%z = burin.add %x, %y : tensor<8x16xf32>, tensor<8xf32>",
       "shapes broadcast only where dimensions, aligned at the last, are equal or 1: a is [8, 16], b is [8]"},
      {"%x: tensor<8x16xf32>, %g: tensor<8xf32>",
       "%y = burin.rms_norm %x, %g eps 1.0e-5 : tensor<8x16xf32>, tensor<8xf32>",
       "the gain must be a vector as long as the last dimension of x: x is [8, 16], gain is [8]"},
      {"%x: tensor<8x16xf32>", "%y = burin.reshape %x to [3, 5] : tensor<8x16xf32>",
       "a reshape must keep the number of elements: x is [8, 16], shape is [3, 5]"},
      {"%x: tensor<8x16xf32>", "%y = burin.transpose %x by [0, 0] : tensor<8x16xf32>",
       "a permutation must name each dimension once: x is [8, 16], permutation is [0, 0]"},
      {"%x: tensor<8x3xf32>", "%y = burin.swap_pairs %x : tensor<8x3xf32>",
       "pairs need an even last dimension: x is [8, 3]"},
      {"%x: tensor<8x16xf32>, %i: tensor<8x16xi32>", "%y = burin.mul %x, %i : tensor<8x16xf32>, tensor<8x16xi32>",
       "the operands of mul must have one dtype: a is f32, b is i32"},
      {"%i: tensor<8xi32>", "%y = burin.one_hot %i classes 4 : tensor<8xi32>",
       "ids must be a column, [..., 1]: ids is [8]"},
  };
  Reader reader;
  for (const Wrong &wrong : cases)
    EXPECT_EQ(reader.errorOf(wrong.arguments, wrong.op), wrong.message);
}

TEST(Infer, OnlyStaticTensorsOfKnownTypesArePartOfTheDialect) {
  Reader reader;
  EXPECT_EQ(reader.errorOf("%x: tensor<?x16xf32>", "%y = burin.exp %x : tensor<?x16xf32>"),
            "expected a statically shaped tensor of f32 or i32, found 'tensor<?x16xf32>'");
  EXPECT_EQ(reader.errorOf("%x: tensor<1x1x1x1x1x1x1xf32>", "%y = burin.exp %x : tensor<1x1x1x1x1x1x1xf32>"),
            "a shape has at most 6 dimensions, found 'tensor<1x1x1x1x1x1x1xf32>'");
}

TEST(Infer, CostsAreThoseOfTheDsl) {
  Reader reader;
  auto module = reader.read(R"(func.func @f(%x: tensor<2x8x16xf32>, %w: tensor<32x16xf32>) {
    %y = burin.matmul %x, %w transpose_b : tensor<2x8x16xf32>, tensor<32x16xf32>
    %z = burin.exp %y : tensor<2x8x32xf32>
    return
  })");
  ASSERT_TRUE(module);
  std::vector<Cost> costs;
  module->walk([&](Costed op) { costs.push_back(op.cost()); });
  ASSERT_EQ(costs.size(), 2u);
  EXPECT_EQ(costs[0].products, 2 * 16 * 32 * 16);
  EXPECT_EQ(costs[1].products, 0);
  EXPECT_EQ(costs[1].other, 16 * 32);
}

} // namespace
} // namespace burin::test
