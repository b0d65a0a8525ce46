// rope_table: cosines or signed sines of the angles of rope.
#include <cmath>

#include "passes/ir/infer.h"
#include "passes/ops/rope_table.h"
#include "passes/ops/scalar.h"

using namespace mlir;

namespace burin {

namespace {
struct RopeTable {
  static constexpr std::string_view mnemonic = "rope_table";
  int64_t dim;
  double theta;

  Shape shape(const Shape &positions) const {
    check(positions.rank() >= 1 && positions.back() == 1, "positions must be a column, [..., 1]", "positions",
          positions);
    check(dim >= 2 && dim % 2 == 0, "dim must be even", "dim", dim);
    check(theta > 0, "theta must be positive", "theta", theta);
    Shape result = positions;
    result[result.rank() - 1] = dim;
    return result;
  }
  static Dtype dtype(Dtype positions) {
    check(positions == Dtype::i32, "positions must be i32", "positions", positions);
    return Dtype::f32;
  }
  // Its part of the cost is in that of rope.
  static Cost cost(const Shape &) { return {}; }
};
} // namespace

template <typename Op> static RopeTable rule(Op op) {
  return {.dim = int64_t(op.getDim()), .theta = op.getTheta().convertToDouble()};
}

bool RopeTableOp::isExpensive() { return true; }

Value RopeTableOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()> lane) {
  const Type f64 = b.getF64Type();
  const int64_t dim = getDim();
  const Scalar position(b, loc, operands[0]);
  const Scalar j = position.make<arith::IndexCastOp>(b.getI32Type(), lane());
  // Which pair, and whether j is the first of it; without divisions, which machines have no lanes for.
  const Scalar half = j.number(dim / 2), one = j.number(1);
  const Scalar isFirst = getHalfSplit() ? j < half : j.make<arith::AndIOp>(j, one) == j.number(0);
  const Scalar pair = getHalfSplit() ? isFirst.choose(j, j - half) : j.make<arith::ShRUIOp>(j, one);
  const Scalar frequency =
      exp(pair.make<arith::SIToFPOp>(f64, pair) * (-2 * std::log(getTheta().convertToDouble()) / dim));
  const Scalar angle = position.make<arith::SIToFPOp>(f64, position) * frequency;
  Scalar entry = angle.of<math::CosOp>();
  if (getSine()) {
    const Scalar sine = angle.of<math::SinOp>();
    entry = isFirst.choose(-sine, sine);
  }
  return entry.make<arith::TruncFOp>(b.getF32Type(), entry);
}

} // namespace burin

#include "passes/ops/rope_table.inc"
