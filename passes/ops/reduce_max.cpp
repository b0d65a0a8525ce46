// reduce_max: the maximum over some dimensions.
#include <limits>

#include "ops/reduce_max.h"
#include "passes/ir/infer.h"
#include "passes/ops/div.h"
#include "passes/ops/greater_equal.h"
#include "passes/ops/mul.h"
#include "passes/ops/reduce_max.h"
#include "passes/ops/reduce_sum.h"
#include "passes/ops/reduction.h"
#include "passes/ops/reshape.h"
#include "passes/ops/to_float.h"

using namespace mlir;

namespace burin {

template <typename Op> static ReduceMax rule(Op op) {
  return {.dims = shapeOf(op.getDims()), .keep_dims = op.getKeepDims()};
}

SmallVector<Value> ReduceMaxOp::expand(OpBuilder &b) { return expandReduction(*this, b); }
SmallVector<int64_t> ReduceMaxOp::reducedDims() { return SmallVector<int64_t>(getDims()); }
bool ReduceMaxOp::keepsDims() { return getKeepDims(); }
double ReduceMaxOp::neutral() { return -std::numeric_limits<double>::infinity(); }
Value ReduceMaxOp::combine(OpBuilder &b, Location loc, Value x, Value y) {
  return arith::MaximumFOp::create(b, loc, x, y);
}

// dx = dy * [x = y] / (how many are equal to y)
void ReduceMaxOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  SmallVector<int64_t> kept(getX().getType().getShape());
  for (int64_t dim : getDims())
    kept[dim] = 1;
  auto withDims = [&](Value value) { return getKeepDims() ? value : b.make<ReshapeOp>(value, kept); };
  // Nothing is greater than the maximum, so x >= y says x = y.
  Value equal = b.make<ToFloatOp>(b.make<GreaterEqualOp>(getX(), withDims(getY())));
  Value count = b.make<ReduceSumOp>(equal, getDims(), true);
  operandGradients[0] = b.make<MulOp>(equal, b.make<DivOp>(withDims(gradients[0]), count));
}

} // namespace burin

#include "passes/ops/reduce_max.inc"
