// Views as arithmetic: which reshapes of which layouts strides can say, checked by hand and against enumerating the
// elements.
#include "passes/ir/strided.h"

#include <numeric>

#include <gtest/gtest.h>

namespace burin {
namespace {

using Sizes = llvm::SmallVector<int64_t>;

// Where the elements lie, in the order of the indices.
std::vector<int64_t> places(const Strided &where) {
  std::vector<int64_t> all = {where.offset};
  for (size_t dim = 0; dim < where.sizes.size(); ++dim) {
    std::vector<int64_t> next;
    for (int64_t place : all)
      for (int64_t i = 0; i < where.sizes[dim]; ++i)
        next.push_back(place + i * where.strides[dim]);
    all = std::move(next);
  }
  return all;
}

TEST(Strided, RowMajorHasNoGaps) {
  EXPECT_EQ(rowMajor({2, 3, 4}).strides, (Sizes{12, 4, 1}));
  EXPECT_TRUE(rowMajor({}).strides.empty());
}

// (batch, length, heads * depth) is seen as (batch, length, heads, depth) whatever the gaps between rows.
TEST(Strided, SplittingADimensionNeedsNothing) {
  const Strided gaps = {{2, 5, 6}, {100, 10, 1}, 7};
  const auto split = reshaped(gaps, {2, 5, 3, 2});
  ASSERT_TRUE(succeeded(split));
  EXPECT_EQ(split->strides, (Sizes{100, 10, 2, 1}));
  EXPECT_EQ(split->offset, 7);
}

// Heads that were moved outwards cannot be merged with the depth again without a copy.
TEST(Strided, MergingNeedsNeighbours) {
  const Strided heads = permuted(rowMajor({2, 5, 3, 4}), {0, 2, 1, 3}); // (batch, heads, length, depth)
  EXPECT_TRUE(failed(reshaped(heads, {2, 15, 4})));
  EXPECT_TRUE(failed(reshaped(heads, {6, 20})));
  // Moved back they can.
  const auto back = reshaped(permuted(heads, {0, 2, 1, 3}), {10, 12});
  ASSERT_TRUE(succeeded(back));
  EXPECT_EQ(*back, rowMajor({10, 12}));
}

// Repeated elements (stride 0) merge with repeated ones only.
TEST(Strided, RepeatedDimensionsMergeAmongThemselves) {
  EXPECT_TRUE(succeeded(reshaped({{4, 8}, {0, 0}, 0}, {32})));
  EXPECT_TRUE(failed(reshaped({{4, 8}, {0, 1}, 0}, {32})));
}

TEST(Strided, OnesComeAndGo) {
  const auto with = reshaped(rowMajor({6}), {1, 2, 1, 3, 1});
  ASSERT_TRUE(succeeded(with));
  EXPECT_EQ(with->strides[1], 3);
  EXPECT_EQ(with->strides[3], 1);
  const auto without = reshaped(*with, {6});
  ASSERT_TRUE(succeeded(without));
  EXPECT_EQ(*without, rowMajor({6}));
  EXPECT_TRUE(succeeded(reshaped({{1, 1}, {17, 3}, 5}, {})));
}

// Whatever is accepted names the same elements in the same order; whatever strides can say is accepted.
TEST(Strided, ReshapesAgreeWithEnumeration) {
  const std::vector<Sizes> shapes = {{24},      {2, 12},   {12, 2},   {4, 6},       {6, 4},     {2, 3, 4},
                                     {4, 3, 2}, {3, 2, 4}, {2, 2, 6}, {2, 2, 2, 3}, {1, 24, 1}, {3, 1, 8}};
  int accepted = 0, refused = 0;
  for (const Sizes &from : shapes) {
    Sizes order(from.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      const Strided source = permuted(rowMajor(from), order);
      const std::vector<int64_t> expected = places(source);
      for (const Sizes &to : shapes) {
        const auto result = reshaped(source, to);
        if (succeeded(result)) {
          ++accepted;
          EXPECT_EQ(result->sizes, to);
          EXPECT_EQ(places(*result), expected);
          continue;
        }
        ++refused;
        // Strides are fixed by the first step along each dimension; if they reproduced all elements the refusal would
        // be wrong.
        Strided attempt = rowMajor(to);
        for (size_t dim = 0; dim < to.size(); ++dim)
          attempt.strides[dim] = to[dim] == 1 ? 0 : expected[rowMajor(to).strides[dim]] - expected[0];
        EXPECT_NE(places(attempt), expected);
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 100);
}

TEST(Strided, PermutingMovesSizesAndStrides) {
  const Strided x = permuted(rowMajor({2, 3, 4}), {2, 0, 1});
  EXPECT_EQ(x.sizes, (Sizes{4, 2, 3}));
  EXPECT_EQ(x.strides, (Sizes{1, 12, 4}));
}

// Every element of piece i is where the view has it.
void expectPieces(const Strided &view, llvm::ArrayRef<int64_t> whole, const Sizes &leading) {
  const auto pieces = piecesOf(view, whole);
  ASSERT_TRUE(succeeded(pieces));
  EXPECT_EQ(pieces->size, view.sizes.back());
  EXPECT_EQ(pieces->leading, leading);
}

TEST(Pieces, AreHeadsMovedBeforeTheRows) {
  const auto heads = [](llvm::ArrayRef<int64_t> whole, llvm::ArrayRef<int64_t> split,
                        llvm::ArrayRef<int64_t> permutation) {
    return permuted(*reshaped(rowMajor(whole), split), permutation);
  };
  constexpr int64_t one = Pieces::one, number = Pieces::number;
  expectPieces(heads({2, 5, 12}, {2, 5, 3, 4}, {0, 2, 1, 3}), {2, 5, 12}, {0, number});
  expectPieces(heads({2, 5, 12}, {2, 5, 3, 4}, {2, 0, 1, 3}), {2, 5, 12}, {number, 0});
  expectPieces(heads({7, 2, 5, 12}, {7, 2, 5, 3, 4}, {0, 3, 1, 2, 4}), {7, 2, 5, 12}, {0, number, 1});
  expectPieces(heads({5, 12}, {5, 3, 4}, {1, 0, 2}), {5, 12}, {number});
  // Dimensions of one element may be anywhere.
  expectPieces(heads({1, 5, 12}, {1, 5, 3, 4}, {0, 2, 1, 3}), {1, 5, 12}, {one, number});
  expectPieces(heads({2, 5, 12}, {2, 5, 1, 12}, {0, 2, 1, 3}), {2, 5, 12}, {0, one});
  expectPieces(heads({2, 1, 12}, {2, 1, 3, 4}, {0, 2, 1, 3}), {2, 1, 12}, {0, number});
}

TEST(Pieces, AreNothingElse) {
  EXPECT_TRUE(failed(piecesOf(*reshaped(rowMajor({2, 5, 12}), {2, 5, 3, 4}), {2, 5, 12})));    // not before the rows
  EXPECT_TRUE(failed(piecesOf(rowMajor({10, 12}), {2, 5, 12})));                               // rows of two matrices
  EXPECT_TRUE(failed(piecesOf(permuted(rowMajor({2, 5, 12}), {0, 2, 1}), {2, 5, 12})));        // columns as rows
  EXPECT_TRUE(failed(piecesOf({{2, 2, 5, 4}, {60, 4, 12, 1}, 0}, {2, 5, 12})));                // two pieces of three
  EXPECT_TRUE(failed(piecesOf({{2, 3, 5, 4}, {60, 4, 12, 1}, 4}, {2, 5, 12})));                // not from the start
  EXPECT_TRUE(failed(piecesOf({{2, 3, 5, 4}, {0, 4, 12, 1}, 0}, {2, 5, 12})));                 // repeated
  EXPECT_TRUE(failed(piecesOf(permuted(rowMajor({2, 2, 5, 3}), {1, 0, 2, 3}), {2, 2, 5, 3}))); // batches exchanged
}

} // namespace
} // namespace burin
