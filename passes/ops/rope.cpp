// rope: pairs of the last dimension rotated by an angle that grows with the position.
#include "ops/rope.h"
#include "passes/ir/infer.h"
#include "passes/ops/add.h"
#include "passes/ops/mul.h"
#include "passes/ops/reshape.h"
#include "passes/ops/rope.h"
#include "passes/ops/rope_table.h"
#include "passes/ops/sub.h"
#include "passes/ops/swap_halves.h"
#include "passes/ops/swap_pairs.h"

using namespace mlir;

namespace burin {

template <typename Op> static Rope rule(Op op) {
  return {.theta = op.getTheta().convertToDouble(), .half_split = op.getHalfSplit()};
}

// y = x * cosines + swapped(x) * sines; the other way round the sines change their sign.
SmallVector<Value> RopeOp::expand(OpBuilder &b) {
  const Location loc = getLoc();
  auto type = getX().getType();
  // As a column that broadcasts: (length, 1), (batch, length, 1), or (batch, 1, length, 1) beside heads.
  SmallVector<int64_t> column(getPositions().getType().getShape());
  if (column.size() == 2 && type.getRank() == 4)
    column.insert(column.begin() + 1, 1);
  column.push_back(1);
  auto positions = ReshapeOp::create(b, loc, getPositions(), column);
  const int64_t dim = type.getShape().back();
  auto cosines = RopeTableOp::create(b, loc, positions, dim, getTheta(), getHalfSplit(), /*sine=*/false);
  auto sines = RopeTableOp::create(b, loc, positions, dim, getTheta(), getHalfSplit(), /*sine=*/true);
  Value swapped =
      getHalfSplit() ? Value(SwapHalvesOp::create(b, loc, getX())) : Value(SwapPairsOp::create(b, loc, getX()));
  Value along = MulOp::create(b, loc, getX(), cosines), across = MulOp::create(b, loc, swapped, sines);
  if (getInverse())
    return {SubOp::create(b, loc, along, across)};
  return {AddOp::create(b, loc, along, across)};
}

// dx = dy rotated back: a rotation's transpose is its inverse
void RopeOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = b.make<RopeOp>(gradients[0], getPositions(), getTheta(), getHalfSplit(), !getInverse());
}

} // namespace burin

#include "passes/ops/rope.inc"
