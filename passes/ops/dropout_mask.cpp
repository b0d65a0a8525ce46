// dropout_mask: factors of 0 or more than 1, by a hash of each element's place.
#include "ops/dropout_mask.h"
#include "passes/ir/infer.h"
#include "passes/ops/dropout_hash.h"
#include "passes/ops/dropout_mask.h"

using namespace mlir;

namespace burin {

template <typename Op> static DropoutMask rule(Op op) {
  return {.width = int64_t(op.getWidth()), .rate = op.getRate().convertToDouble(), .id = int64_t(op.getId())};
}

Value DropoutMaskOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()> lane) {
  const Scalar row(b, loc, operands[0]), position(b, loc, operands[1]), key(b, loc, operands[2]);
  const Scalar column = row.make<arith::IndexCastOp>(b.getI32Type(), lane());
  return dropoutFactor(b, key, placeHash(b, key, uint32_t(getId()), row, position, column),
                       getRate().convertToDouble());
}

} // namespace burin

#include "passes/ops/dropout_mask.inc"
