// One element of a tensor, for writing `scalar` as a formula: Scalar x(b, loc, operands[0]); return x / (exp(-x) + 1);
// Numbers take the type of the other side: f32, f64 or i32.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace burin {

class Scalar {
public:
  Scalar(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value) : b(&b), loc(loc), value(value) {}
  operator mlir::Value() const { return value; }

  // A number of this one's type.
  Scalar number(double x) const {
    if (isInteger())
      return make<mlir::arith::ConstantOp>(b->getIntegerAttr(value.getType(), int64_t(x)));
    return make<mlir::arith::ConstantOp>(b->getFloatAttr(value.getType(), x));
  }

  friend Scalar operator+(Scalar x, Scalar y) { return x.binary<mlir::arith::AddFOp, mlir::arith::AddIOp>(y); }
  friend Scalar operator-(Scalar x, Scalar y) { return x.binary<mlir::arith::SubFOp, mlir::arith::SubIOp>(y); }
  friend Scalar operator*(Scalar x, Scalar y) { return x.binary<mlir::arith::MulFOp, mlir::arith::MulIOp>(y); }
  friend Scalar operator/(Scalar x, Scalar y) { return x.make<mlir::arith::DivFOp>(x.value, y.value); }
  friend Scalar operator-(Scalar x) { return x.make<mlir::arith::NegFOp>(x.value); }
  friend Scalar operator+(Scalar x, double y) { return x + x.number(y); }
  friend Scalar operator*(Scalar x, double y) { return x * x.number(y); }
  friend Scalar operator-(double x, Scalar y) { return y.number(x) - y; }
  friend Scalar operator/(double x, Scalar y) { return y.number(x) / y; }
  // NaN if either is.
  friend Scalar max(Scalar x, Scalar y) { return x.binary<mlir::arith::MaximumFOp, mlir::arith::MaxSIOp>(y); }
  friend Scalar min(Scalar x, Scalar y) { return x.binary<mlir::arith::MinimumFOp, mlir::arith::MinSIOp>(y); }

  // Functions of math: of<mlir::math::ExpOp>().
  template <typename Function> Scalar of() const { return make<Function>(value); }
  friend Scalar exp(Scalar x) { return x.of<mlir::math::ExpOp>(); }

  // Conditions (i1); a NaN satisfies none of them.
  friend Scalar operator>=(Scalar x, Scalar y) {
    return x.compare(y, mlir::arith::CmpFPredicate::OGE, mlir::arith::CmpIPredicate::sge);
  }
  friend Scalar operator<(Scalar x, Scalar y) {
    return x.compare(y, mlir::arith::CmpFPredicate::OLT, mlir::arith::CmpIPredicate::slt);
  }
  friend Scalar operator==(Scalar x, Scalar y) {
    return x.compare(y, mlir::arith::CmpFPredicate::OEQ, mlir::arith::CmpIPredicate::eq);
  }
  // This is an i32 mask.
  Scalar isSet() const { return make<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::ne, value, number(0).value); }
  // This is a condition: 1 or 0 as i32; one of two values.
  Scalar asMask() const { return make<mlir::arith::ExtUIOp>(b->getI32Type(), value); }
  Scalar choose(Scalar x, Scalar y) const { return make<mlir::arith::SelectOp>(value, x.value, y.value); }

  bool isInteger() const { return mlir::isa<mlir::IntegerType>(value.getType()); }

  template <typename Op, typename... Arguments> Scalar make(Arguments &&...arguments) const {
    return {*b, loc, Op::create(*b, loc, std::forward<Arguments>(arguments)...)->getResult(0)};
  }

private:
  template <typename OfFloats, typename OfIntegers> Scalar binary(Scalar y) const {
    return isInteger() ? make<OfIntegers>(value, y.value) : make<OfFloats>(value, y.value);
  }
  Scalar compare(Scalar y, mlir::arith::CmpFPredicate ofFloats, mlir::arith::CmpIPredicate ofIntegers) const {
    return isInteger() ? make<mlir::arith::CmpIOp>(ofIntegers, value, y.value)
                       : make<mlir::arith::CmpFOp>(ofFloats, value, y.value);
  }

  mlir::OpBuilder *b;
  mlir::Location loc;
  mlir::Value value;
};

} // namespace burin
