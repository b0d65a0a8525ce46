// dropout_mask: factors of 0 or more than 1, by a hash of each element's place.
#include <cmath>

#include "ops/dropout_mask.h"
#include "passes/ir/infer.h"
#include "passes/ops/dropout_mask.h"
#include "passes/ops/scalar.h"

using namespace mlir;

namespace burin {

template <typename Op> static DropoutMask rule(Op op) {
  return {.width = int64_t(op.getWidth()), .rate = op.getRate().convertToDouble(), .id = int64_t(op.getId())};
}

// A bijection of 32 bits in which every bit of the result depends on all of h (C. Wellons' lowbias32).
static Scalar mixed(OpBuilder &b, Scalar h) {
  auto bits = [&](uint32_t value) { return h.make<arith::ConstantOp>(b.getI32IntegerAttr(int32_t(value))); };
  auto fold = [&](uint32_t shift) { h = h.make<arith::XOrIOp>(h, h.make<arith::ShRUIOp>(h, bits(shift))); };
  fold(16);
  h = h * bits(0x7feb352d);
  fold(15);
  h = h * bits(0x846ca68b);
  fold(16);
  return h;
}

Value DropoutMaskOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()> lane) {
  const Scalar row(b, loc, operands[0]), position(b, loc, operands[1]), key(b, loc, operands[2]);
  const Scalar column = row.make<arith::IndexCastOp>(b.getI32Type(), lane());
  const Scalar id = key.make<arith::ConstantOp>(b.getI32IntegerAttr(int32_t(uint32_t(getId()) * 0x9e3779b9u)));
  const Scalar h = mixed(b, mixed(b, mixed(b, mixed(b, key + id) + row) + position) + column);
  const double rate = getRate().convertToDouble();
  const Scalar out = h.make<arith::ShRUIOp>(h, h.number(1)) < h.number(std::round(rate * 0x1p31));
  auto factor = [&](double value) { return key.make<arith::ConstantOp>(b.getF32FloatAttr(float(value))); };
  return (key == key.number(0)).choose(factor(1), out.choose(factor(0), factor(1 / (1 - rate))));
}

} // namespace burin

#include "passes/ops/dropout_mask.inc"
