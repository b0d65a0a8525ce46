// mask: scores, minus infinity where they are hidden.
#include <limits>

#include "ops/mask.h"
#include "passes/ir/infer.h"
#include "passes/ops/constant.h"
#include "passes/ops/mask.h"
#include "passes/ops/scalar.h"
#include "passes/ops/where.h"

using namespace mlir;

namespace burin {

template <typename Op> static Mask rule(Op) { return {}; }

Value MaskOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar score(b, loc, operands[0]), keep(b, loc, operands[1]);
  return keep.isSet().choose(score, score.number(-std::numeric_limits<double>::infinity()));
}

// dscores = dy where kept, else 0
void MaskOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  if (b.needs(getScores()))
    operandGradients[0] = b.make<WhereOp>(getKeep(), gradients[0], b.make<ConstantOp>(0.0));
}

} // namespace burin

#include "passes/ops/mask.inc"
