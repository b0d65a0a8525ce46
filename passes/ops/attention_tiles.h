// What the kernels of attention and of its gradient share: block sizes, and the element-wise work on a block of scores.
// In both a lane is a query: blocks of scores lie as (key, query), so that maxima, sums and exponentials run down the
// lanes.
#pragma once

#include "passes/ir/burin.h"
#include "passes/tile/builder.h"

namespace burin {

struct AttentionShape {
  llvm::SmallVector<int64_t> leading; // batch, heads, ...: whatever stands before (length, depth)
  int64_t queries, keys, depth, valueDepth;

  AttentionShape(mlir::Type q, mlir::Type k, mlir::Type v);
  int64_t heads() const;
  // [leading..., rows, columns]
  mlir::RankedTensorType tensor(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> last) const;
};

// Checks q, k and v against each other and that the extras broadcast to the scores.
llvm::LogicalResult checkAttentionTypes(std::optional<mlir::Location> location, mlir::Value q, mlir::Value k,
                                        mlir::Value v, mlir::ValueRange extras);
// Checks that `region` takes the score, an element of each extra and `more` other f32 values, and by element-wise ops
// yields one f32; or, where it `mayThin`, a second one that the score does not reach.
llvm::LogicalResult checkScoreRegion(mlir::Operation *op, mlir::Region &region, mlir::ValueRange extras, unsigned more,
                                     bool mayThin);

// FLOPs of the products, counted `times` for the forward pass: half of them where the region masks what lies after the
// query.
Cost attentionCost(const AttentionShape &shape, mlir::Region &score, mlir::ValueRange extras, int64_t times);

struct AttentionBlocks {
  int64_t queries, keys;
};
// `buffers`: score blocks that are alive at a time.
AttentionBlocks attentionBlocks(const AttentionShape &shape, mlir::Region &score, mlir::ValueRange extras,
                                TargetAttr target, int64_t buffers);

// What a region of 0-d ops yields, on scalars.
mlir::Value onScalars(mlir::OpBuilder &b, mlir::Location loc, mlir::Region &region, mlir::ValueRange arguments);

// Whether the weights are multiplied by a factor after the softmax. The factor times `x`, given an element of each
// extra; x itself where there is none.
bool thinsWeights(mlir::Region &score);
mlir::Value thinned(mlir::OpBuilder &b, mlir::Location loc, mlir::Region &score, mlir::ValueRange extras,
                    mlir::Value x);

// x > y ? x : y, which is one instruction. A NaN in x is passed over: it still reaches the result through the
// exponential.
mlir::Value larger(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y);

// A mask's `left >= right` where one side depends on the query alone and the other on the key alone.
struct MaskCondition {
  mlir::Value left, right; // values of the score region
  bool leftIsQuery;
};
// The conditions without which a score is -inf, whatever else the region does.
llvm::SmallVector<MaskCondition> maskConditions(mlir::Region &score, mlir::ValueRange extras,
                                                const AttentionShape &shape);

// The head that a cell works on, and what its blocks of scores need besides q and k.
class AttentionHead {
public:
  // `head`: the number of the head, over all leading dimensions.
  AttentionHead(TileBuilder &t, const AttentionShape &shape, mlir::Region &score, mlir::ValueRange extras,
                llvm::ArrayRef<Stored> stored, mlir::Value head);

  // Rows `row` .. `row + rows` of this head of a tensor [leading..., rows, columns], as (rows, columns).
  mlir::Value rows(const Stored &tensor, mlir::Value row, int64_t rows) const;
  // The same of a tensor [leading..., rows].
  mlir::Value elements(const Stored &tensor, mlir::Value row, int64_t rows) const;
  // What contract takes, in the precision of products. `left`: (m, k) with any strides, rounded in scratch in bf16.
  // `right`: (k, n), copied to scratch where columns are not adjacent, packed in bf16. `packed`: the same, packed in
  // any case: one panel of n rounded up to whole vectors.
  mlir::Value left(mlir::Value tile) const;
  mlir::Value right(mlir::Value tile) const;
  mlir::Value packed(mlir::Value tile) const;

  // The extras' tiles for a block of scores, in loops (key, query).
  llvm::SmallVector<Access> extraTiles(mlir::Value query, int64_t queries, mlir::Value key, int64_t keys) const;

  // Run-time bounds of the masks' query sides. To be called for each block of queries.
  void enterQueries(mlir::Value query, int64_t queries);
  // Writes `body` so that it is skipped where the masks leave no score of the block.
  void whereVisible(mlir::Value key, int64_t keys, llvm::function_ref<void()> body) const;

private:
  Access tileOf(unsigned extra, mlir::Value query, int64_t queries, mlir::Value key, int64_t keys, int64_t queryLoop,
                int64_t keyLoop) const;
  mlir::Value extremum(mlir::Value wanted, bool largest, mlir::Value start, int64_t count) const;

  TileBuilder &t;
  const AttentionShape &shape;
  mlir::Region &score;
  llvm::ArrayRef<Stored> stored;
  llvm::SmallVector<mlir::Value> at; // the head's index in each leading dimension
  llvm::SmallVector<MaskCondition> conditions;
  llvm::SmallVector<mlir::Value> queryBounds; // one for each condition
};

} // namespace burin
