// cross_entropy: the sum of the losses of all rows whose target is not -1.
#include <limits>

#include "ops/cross_entropy.h"
#include "passes/ir/infer.h"
#include "passes/ops/add.h"
#include "passes/ops/constant.h"
#include "passes/ops/cross_entropy.h"
#include "passes/ops/div.h"
#include "passes/ops/exp.h"
#include "passes/ops/greater_equal.h"
#include "passes/ops/log.h"
#include "passes/ops/maximum.h"
#include "passes/ops/mul.h"
#include "passes/ops/one_hot.h"
#include "passes/ops/reduce_max.h"
#include "passes/ops/reduce_sum.h"
#include "passes/ops/reshape.h"
#include "passes/ops/sub.h"
#include "passes/ops/to_float.h"
#include "passes/ops/where.h"

using namespace mlir;

namespace burin {

template <typename Op> static CrossEntropy rule(Op) { return {}; }

std::optional<std::pair<int64_t, int64_t>> CrossEntropyOp::operandBounds(unsigned index) {
  if (index != 1)
    return std::nullopt;
  return std::pair<int64_t, int64_t>(-1, getLogits().getType().getShape().back());
}

namespace {
// What both directions ask of the targets, as columns: (..., 1) beside logits (..., classes).
struct Rows {
  Value counted; // 0 where the target is -1
  Value hit;     // 1 at the target's class
};
} // namespace

static Rows rowsOf(OpBuilder &b, CrossEntropyOp op) {
  const Location loc = op.getLoc();
  SmallVector<int64_t> column(op.getTargets().getType().getShape());
  column.push_back(1);
  auto targets = ReshapeOp::create(b, loc, op.getTargets(), column);
  auto zero = ConstantOp::create(b, loc, RankedTensorType::get({}, b.getI32Type()), APFloat(0.0));
  return {GreaterEqualOp::create(b, loc, targets, zero),
          OneHotOp::create(b, loc, targets, op.getLogits().getType().getShape().back())};
}

// loss of a row = ln(sum of e^(logits - max)) - (logits[target] - max)
SmallVector<Value> CrossEntropyOp::expand(OpBuilder &b) {
  const Location loc = getLoc();
  const int64_t last = getLogits().getType().getRank() - 1;
  const Rows rows = rowsOf(b, *this);
  auto zero = ConstantOp::create(b, loc, 0.0);
  // Finite, so that a class that is ruled out (-inf) does not become NaN.
  auto lowest = ConstantOp::create(b, loc, double(std::numeric_limits<float>::lowest()));
  auto maximum = MaximumOp::create(b, loc, ReduceMaxOp::create(b, loc, getLogits(), last, true), lowest);
  auto shifted = SubOp::create(b, loc, getLogits(), maximum);
  auto sum = ReduceSumOp::create(b, loc, ExpOp::create(b, loc, shifted), last, true);
  auto target = ReduceSumOp::create(b, loc, WhereOp::create(b, loc, rows.hit, shifted, zero), last, true);
  auto loss = SubOp::create(b, loc, LogOp::create(b, loc, sum), target);
  auto counted = WhereOp::create(b, loc, rows.counted, loss, zero);
  return {ReduceSumOp::create(b, loc, counted, llvm::to_vector(llvm::seq<int64_t>(0, last + 1)), false)};
}

// dlogits = dy * (e^(logits - max) / sum - [class = target]) where the target is not -1, else 0
//
// One number a row is kept of each statistic; exponentials and marks are made again from the logits, whose place the
// gradient then takes. Kept, either would be as large as the logits.
void CrossEntropyOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  const Rows rows = rowsOf(b.b, *this);
  const int64_t last = getLogits().getType().getRank() - 1;
  // Marked, so that it is not taken for the forward pass's own.
  auto again = [&](Value value) {
    value.getDefiningOp()->setAttr("burin.recompute", b.b.getUnitAttr());
    return value;
  };
  Value lowest = b.make<ConstantOp>(double(std::numeric_limits<float>::lowest()));
  Value maximum = b.make<MaximumOp>(b.make<ReduceMaxOp>(getLogits(), last, true), lowest);
  Value sum = b.make<ReduceSumOp>(b.make<ExpOp>(b.make<SubOp>(getLogits(), maximum)), last, true);
  // Where all classes are ruled out there is no sum, and no gradient.
  Value share = b.make<DivOp>(b.make<ConstantOp>(1.0),
                              b.make<MaximumOp>(sum, b.make<ConstantOp>(double(std::numeric_limits<float>::min()))));
  Value exponential = again(b.make<ExpOp>(again(b.make<SubOp>(getLogits(), maximum))));
  Value slope = b.make<SubOp>(b.make<MulOp>(exponential, share), b.make<ToFloatOp>(again(rows.hit)));
  Value counted = b.make<WhereOp>(rows.counted, slope, b.make<ConstantOp>(0.0));
  operandGradients[0] = b.make<MulOp>(counted, gradients[0]);
}

} // namespace burin

#include "passes/ops/cross_entropy.inc"
