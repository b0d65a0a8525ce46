// The hash of dropout's ops, and the factor that it decides on.
#pragma once

#include <cmath>

#include "passes/ops/scalar.h"

namespace burin {

// A bijection of 32 bits in which every bit of the result depends on all of h (C. Wellons' lowbias32).
inline Scalar mixed(mlir::OpBuilder &b, Scalar h) {
  auto bits = [&](uint32_t value) { return h.make<mlir::arith::ConstantOp>(b.getI32IntegerAttr(int32_t(value))); };
  auto fold = [&](uint32_t shift) { h = h.make<mlir::arith::XOrIOp>(h, h.make<mlir::arith::ShRUIOp>(h, bits(shift))); };
  fold(16);
  h = h * bits(0x7feb352d);
  fold(15);
  h = h * bits(0x846ca68b);
  fold(16);
  return h;
}

// The hash of an op's id and an element's place.
inline Scalar placeHash(mlir::OpBuilder &b, Scalar key, uint32_t id, Scalar row, Scalar position, Scalar column) {
  const Scalar start = key.make<mlir::arith::ConstantOp>(b.getI32IntegerAttr(int32_t(id * 0x9e3779b9u)));
  return mixed(b, mixed(b, mixed(b, mixed(b, key + start) + row) + position) + column);
}

// 1 where the key is 0, else 0 for a share `rate` of all hashes and 1 / (1 - rate) for the others.
inline Scalar dropoutFactor(mlir::OpBuilder &b, Scalar key, Scalar hash, double rate) {
  const Scalar out = hash.make<mlir::arith::ShRUIOp>(hash, hash.number(1)) < hash.number(std::round(rate * 0x1p31));
  auto factor = [&](double value) { return key.make<mlir::arith::ConstantOp>(b.getF32FloatAttr(float(value))); };
  return (key == key.number(0)).choose(factor(1), out.choose(factor(0), factor(1 / (1 - rate))));
}

} // namespace burin
