// dropout_by_key: factors of 0 or more than 1, by a hash of the row's key and the column.
#include "ops/dropout_by_key.h"
#include "passes/ir/infer.h"
#include "passes/ops/dropout_by_key.h"
#include "passes/ops/dropout_hash.h"

using namespace mlir;

namespace burin {

template <typename Op> static DropoutByKey rule(Op op) { return {.rate = op.getRate().convertToDouble()}; }

Value DropoutByKeyOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar key(b, loc, operands[0]), column(b, loc, operands[1]);
  return dropoutFactor(b, key, mixed(b, key + column), getRate().convertToDouble());
}

} // namespace burin

#include "passes/ops/dropout_by_key.inc"
