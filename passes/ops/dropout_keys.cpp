// dropout_keys: a hash of each row's place, as the key of that row.
#include "ops/dropout_keys.h"
#include "passes/ir/infer.h"
#include "passes/ops/dropout_hash.h"
#include "passes/ops/dropout_keys.h"

using namespace mlir;

namespace burin {

template <typename Op> static DropoutKeys rule(Op op) {
  return {.width = int64_t(op.getWidth()), .id = int64_t(op.getId())};
}

Value DropoutKeysOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()> lane) {
  const Scalar row(b, loc, operands[0]), position(b, loc, operands[1]), key(b, loc, operands[2]);
  const Scalar column = row.make<arith::IndexCastOp>(b.getI32Type(), lane());
  const Scalar hash = placeHash(b, key, uint32_t(getId()), row, position, column);
  // Odd, since 0 would turn dropout off.
  return (key == key.number(0)).choose(key.number(0), hash.make<arith::OrIOp>(hash, hash.number(1)));
}

} // namespace burin

#include "passes/ops/dropout_keys.inc"
