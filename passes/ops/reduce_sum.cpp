// reduce_sum: the sum over some dimensions.
#include "ops/reduce_sum.h"
#include "passes/ir/infer.h"
#include "passes/ops/add.h"
#include "passes/ops/constant.h"
#include "passes/ops/reduce_sum.h"
#include "passes/ops/reduction.h"
#include "passes/ops/reshape.h"

using namespace mlir;

namespace burin {

template <typename Op> static ReduceSum rule(Op op) {
  return {.dims = shapeOf(op.getDims()), .keep_dims = op.getKeepDims()};
}

SmallVector<Value> ReduceSumOp::expand(OpBuilder &b) { return expandReduction(*this, b); }
SmallVector<int64_t> ReduceSumOp::reducedDims() { return SmallVector<int64_t>(getDims()); }
bool ReduceSumOp::keepsDims() { return getKeepDims(); }
double ReduceSumOp::neutral() { return 0; }
Value ReduceSumOp::combine(OpBuilder &b, Location loc, Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }

// dx = dy, repeated over the reduced dimensions
void ReduceSumOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  SmallVector<int64_t> kept(getX().getType().getShape());
  for (int64_t dim : getDims())
    kept[dim] = 1;
  Value dy = getKeepDims() ? gradients[0] : b.make<ReshapeOp>(gradients[0], kept);
  Value zeros = ConstantOp::create(b.b, b.loc, getX().getType(), APFloat(0.0));
  operandGradients[0] = b.make<AddOp>(zeros, dy);
}

} // namespace burin

#include "passes/ops/reduce_sum.inc"
