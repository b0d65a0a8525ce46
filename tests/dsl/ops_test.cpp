// The shape and dtype rules of the ops: what they give, and what each of them refuses.
#include "support.h"

#include <gtest/gtest.h>

namespace burin {
namespace {

using test::messageOf;

static_assert(Add::shape({4, 1}, {3}) == Shape{4, 3} && Sub::shape({3}, {4, 3}) == Shape{4, 3});
static_assert(Mul::cost({4, 1}, {3}).other == 12 && Mul::cost({4, 1}, {3}).products == 0);

static_assert(Matmul{}.shape({5, 3}, {3, 7}) == Shape{5, 7});
static_assert(Matmul{.transpose_b = true}.shape({2, 5, 3}, {7, 3}) == Shape{2, 5, 7});
static_assert(Matmul{.transpose_a = true}.shape({3, 5}, {3, 7}) == Shape{5, 7});
static_assert(Matmul{.transpose_a = true}.shape({2, 3, 5}, {2, 3, 7}) == Shape{2, 5, 7});
static_assert(Matmul{.transpose_b = true}.shape({2, 4, 5, 3}, {2, 4, 7, 3}) == Shape{2, 4, 5, 7});
static_assert(Matmul{.transpose_b = true}.cost({2, 5, 3}, {7, 3}).products == 2 * 2 * 5 * 3 * 7);

static_assert(RmsNorm{}.shape({2, 5, 3}, {3}) == Shape{2, 5, 3});
static_assert(Embedding::shape({256, 32}, {2, 5}) == Shape{2, 5, 32} && Embedding::shape({256, 32}, {}) == Shape{32});
static_assert(CrossEntropy::shape({2, 5, 256}, {2, 5}) == Shape{} && CrossEntropy::shape({256}, {}) == Shape{});
static_assert(Rope{}.shape({2, 5, 4}, {5}) == Shape{2, 5, 4} &&
              Rope{}.shape({2, 3, 5, 4}, {2, 5}) == Shape{2, 3, 5, 4});
static_assert(Reshape{{3, 4}}.shape({2, 6}) == Shape{3, 4} && Reshape{{}}.shape({1, 1}) == Shape{});
static_assert(Transpose{{0, 2, 1}}.shape({2, 3, 4}) == Shape{2, 4, 3});
static_assert(ReduceSum{.dims = {0, 2}}.shape({2, 3, 4}) == Shape{3});
static_assert(ReduceSum{.dims = {0, 2}, .keep_dims = true}.shape({2, 3, 4}) == Shape{1, 3, 1});
static_assert(ReduceMax{.dims = {1, 0}}.shape({2, 3}) == Shape{});
static_assert(Mask::shape({2, 4, 5, 5}, {5, 5}) == Shape{2, 4, 5, 5});
static_assert(Where::shape({}, {4, 3}, {3}) == Shape{4, 3});
static_assert(Slice{.start = 4, .size = 2}.shape({7, 3}) == Shape{2, 3});
static_assert(Sinusoid{.width = 6}.shape({2, 5, 1}) == Shape{2, 5, 6} && Sinusoid{}.cost({5, 1}).other == 30);
static_assert(Past::shape({2, 4, 5, 3}) == Shape{2, 4, 5, 3});

// An op without a rule takes f32; views keep what they view; comparisons make i32.
static_assert(resultDtype(Add{}, Dtype::f32, Dtype::f32) == Dtype::f32);
static_assert(resultDtype(Reshape{}, Dtype::i32) == Dtype::i32 && resultDtype(Transpose{}, Dtype::f32) == Dtype::f32);
static_assert(resultDtype(GreaterEqual{}, Dtype::i32, Dtype::i32) == Dtype::i32);
static_assert(resultDtype(ToFloat{}, Dtype::i32) == Dtype::f32 && resultDtype(IsFinite{}, Dtype::f32) == Dtype::i32);

TEST(Slice, LiesWithinItsInput) {
  EXPECT_EQ(messageOf([] {
              (void)Slice{.start = 6, .size = 2}.shape({7, 3});
            }),
            "a slice must lie within its input: x is [7, 3], start is 6, size is 2");
}

TEST(Sinusoid, PositionsAreAColumn) {
  EXPECT_EQ(messageOf([] { (void)Sinusoid{}.shape({7}); }),
            "the positions of a sinusoid must be a column, [..., 1]: positions is [7]");
}

TEST(Scale, FactorIsFinite) {
  EXPECT_EQ(messageOf([] { (void)Scale{1.0 / 0.0}.shape({1}); }),
            "the factor of a scale must be finite: factor is inf");
}

TEST(Matmul, OperandsAreMatrices) {
  EXPECT_EQ(messageOf([] {
              (void)Matmul{}.shape({5}, {5, 3});
            }),
            "the operands of matmul need at least two dimensions: a is [5], b is [5, 3]");
}

TEST(Matmul, InnerDimensionsAgree) {
  EXPECT_EQ(
      messageOf([] {
        (void)Matmul{.transpose_b = true}.shape({5, 3}, {3, 7});
      }),
      "the inner dimensions of a matmul must agree: a is [5, 3], b is [3, 7], transpose_a is false, transpose_b is "
      "true");
}

TEST(Matmul, BatchesAgree) {
  EXPECT_EQ(messageOf([] {
              (void)Matmul{}.shape({5, 3}, {2, 3, 7});
            }),
            "batched operands of matmul must have the same rank: a is [5, 3], b is [2, 3, 7]");
  EXPECT_EQ(messageOf([] {
              (void)Matmul{}.shape({4, 5, 3}, {2, 3, 7});
            }),
            "batched operands of matmul must have the same leading dimensions: a is [4, 5, 3], b is [2, 3, 7]");
}

TEST(Matmul, ASharedBTransposesOnlyAMatrix) {
  EXPECT_EQ(messageOf([] {
              (void)Matmul{.transpose_a = true}.shape({2, 3, 5}, {3, 7});
            }),
            "a matmul with a shared b transposes a only of rank 2: a is [2, 3, 5], b is [3, 7]");
}

TEST(Softmax, NeedsADimension) {
  EXPECT_EQ(messageOf([] { (void)Softmax::shape({}); }), "softmax needs a last dimension to run over: x is []");
}

TEST(RmsNorm, GainIsAsLongAsARow) {
  const std::string sentence = "the gain must be a vector as long as the last dimension of x: ";
  EXPECT_EQ(messageOf([] { (void)RmsNorm{}.shape({2, 3}, {2}); }), sentence + "x is [2, 3], gain is [2]");
  EXPECT_EQ(messageOf([] { (void)RmsNorm{}.shape({2, 3}, {1, 3}); }), sentence + "x is [2, 3], gain is [1, 3]");
  EXPECT_EQ(messageOf([] { (void)RmsNorm{}.shape({}, {1}); }), "rms_norm needs a last dimension to run over: x is []");
  EXPECT_EQ(messageOf([] { (void)RmsNorm{-1}.shape({3}, {3}); }),
            "the eps of rms_norm must not be negative: eps is -1.000000");
}

TEST(Embedding, TableHasRowsAndWidth) {
  EXPECT_EQ(messageOf([] { (void)Embedding::shape({256}, {2}); }),
            "the table of an embedding must have two dimensions, rows and width: table is [256]");
}

TEST(CrossEntropy, OneTargetForEachRow) {
  EXPECT_EQ(messageOf([] {
              (void)CrossEntropy::shape({2, 5, 256}, {5, 2});
            }),
            "cross_entropy needs one target for each row of logits: logits is [2, 5, 256], targets is [5, 2]");
  EXPECT_EQ(messageOf([] { (void)CrossEntropy::shape({}, {}); }),
            "the logits need a last dimension, the classes: logits is []");
}

TEST(Rope, ShapesFit) {
  EXPECT_EQ(messageOf([] {
              (void)Rope{}.shape({5, 4}, {5});
            }),
            "rope takes [batch, length, d] or [batch, heads, length, d]: x is [5, 4]");
  EXPECT_EQ(messageOf([] {
              (void)Rope{}.shape({2, 5, 3}, {5});
            }),
            "rope rotates pairs, so its last dimension must be even: x is [2, 5, 3]");
  EXPECT_EQ(
      messageOf([] {
        (void)Rope{}.shape({2, 3, 5, 4}, {3, 5});
      }),
      "the positions of rope must be [length] or [batch, length] of its input: x is [2, 3, 5, 4], positions is [3, 5]");
  EXPECT_EQ(messageOf([] {
              (void)Rope{.theta = 0}.shape({2, 5, 4}, {5});
            }),
            "the theta of rope must be positive: theta is 0.000000");
}

TEST(Reshape, KeepsTheNumberOfElements) {
  EXPECT_EQ(messageOf([] {
              (void)Reshape{{2, 3}}.shape({5});
            }),
            "a reshape must keep the number of elements: x is [5], shape is [2, 3]");
}

TEST(Transpose, NamesEachDimensionOnce) {
  const std::string sentence = "a permutation must name each dimension once: x is [2, 3], permutation is ";
  EXPECT_EQ(messageOf([] { (void)Transpose{{0, 0}}.shape({2, 3}); }), sentence + "[0, 0]");
  EXPECT_EQ(messageOf([] { (void)Transpose{{0, 2}}.shape({2, 3}); }), sentence + "[0, 2]");
  EXPECT_EQ(messageOf([] { (void)Transpose{{0}}.shape({2, 3}); }), sentence + "[0]");
}

TEST(ReduceSum, DimensionsExistAndAreNamedOnce) {
  EXPECT_EQ(messageOf([] { (void)ReduceSum{}.shape({2, 3}); }), "a reduction needs dimensions to reduce: x is [2, 3]");
  EXPECT_EQ(messageOf([] {
              (void)ReduceSum{.dims = {-1}}.shape({2, 3});
            }),
            "a reduction names a dimension that its input lacks: x is [2, 3], dims is [-1]");
  EXPECT_EQ(messageOf([] {
              (void)ReduceMax{.dims = {1, 1}}.shape({2, 3});
            }),
            "a reduction names a dimension twice: x is [2, 3], dims is [1, 1]");
}

TEST(Mask, BroadcastsToTheScores) {
  EXPECT_EQ(messageOf([] {
              (void)Mask::shape({5, 5}, {2, 5, 5});
            }),
            "a mask must broadcast to the scores, not the other way: scores is [5, 5], keep is [2, 5, 5]");
}

TEST(Past, NeedsALengthAndADepth) {
  EXPECT_EQ(messageOf([] { (void)Past::shape({5}); }), "past needs [..., length, d]: x is [5]");
}

TEST(Dtypes, AreChecked) {
  const auto f32 = Dtype::f32, i32 = Dtype::i32;
  EXPECT_EQ(messageOf([&] { resultDtype(Exp{}, i32); }), "the operands of this op must be f32: op is exp");
  EXPECT_EQ(messageOf([&] { resultDtype(Past{}, i32); }), "the operands of this op must be f32: op is past");
  EXPECT_EQ(resultDtype(Mul{}, i32, i32), i32);
  EXPECT_EQ(messageOf([&] { resultDtype(Mul{}, i32, f32); }),
            "the operands of mul must have one dtype: a is i32, b is f32");
  EXPECT_EQ(messageOf([&] { resultDtype(GreaterEqual{}, i32, f32); }),
            "the operands of greater_equal must have one dtype: a is i32, b is f32");
  EXPECT_EQ(messageOf([&] { resultDtype(Where{}, f32, f32, f32); }),
            "the condition of where must be i32: condition is f32");
  EXPECT_EQ(messageOf([&] { resultDtype(Where{}, i32, i32, f32); }),
            "where chooses between tensors of one dtype: a is i32, b is f32");
  EXPECT_EQ(messageOf([&] { resultDtype(Mask{}, f32, f32); }),
            "mask takes f32 scores and an i32 keep: scores is f32, keep is f32");
  EXPECT_EQ(messageOf([&] { resultDtype(IsFinite{}, i32); }), "is_finite takes f32: x is i32");
  EXPECT_EQ(messageOf([&] { resultDtype(ToFloat{}, f32); }), "to_float takes i32: x is f32");
  EXPECT_EQ(messageOf([&] { resultDtype(Embedding{}, i32, f32); }),
            "embedding takes an f32 table and i32 ids: table is i32, ids is f32");
  EXPECT_EQ(messageOf([&] { resultDtype(CrossEntropy{}, f32, f32); }),
            "cross_entropy takes f32 logits and i32 targets: logits is f32, targets is f32");
  EXPECT_EQ(messageOf([&] { resultDtype(Rope{}, f32, f32); }),
            "rope takes f32 and i32 positions: x is f32, positions is f32");
}

} // namespace
} // namespace burin
