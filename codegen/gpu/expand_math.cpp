// Functions become the polynomials of codegen/math: a device has no C library. In double precision, which tables alone
// use, exp, sin and cos are expanded here.
#include "codegen/gpu/gpu.h"
#include "codegen/gpu/tile.h"
#include "codegen/math/formulas.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

namespace burin {

#define GEN_PASS_DEF_GPUEXPANDMATH
#include "codegen/gpu/passes.h.inc"

using namespace mlir;

namespace {

// Series in double precision. Errors are a unit in the last place or two, far below what rounding the table to f32
// costs.
class DoubleFormula {
public:
  DoubleFormula(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  // 2^n e^r with |r| <= ln 2 / 2.
  Value exp(Value x) {
    x = clamp(x, -746, 710); // beyond these the result is 0 or infinity
    Value shifted = fma(x, c(1.4426950408889634), c(shift)), n = sub(shifted, c(shift));
    // ln 2 in two parts; the first has so few bits that n times it is exact.
    Value r = fma(n, c(-1.9082149292705877e-10), fma(n, c(-0.6931471803691238), x));
    SmallVector<double> coefficients{1};
    for (int i = 1; i <= 14; ++i)
      coefficients.push_back(coefficients.back() / i);
    Value bits = arith::SubIOp::create(b, loc, bitsOf(shifted), bitsOf(c(shift)));
    Value half = arith::ShRSIOp::create(b, loc, bits, i(1));
    auto power = [&](Value exponent) {
      Value biased = arith::AddIOp::create(b, loc, exponent, i(1023));
      return arith::BitcastOp::create(b, loc, b.getF64Type(), arith::ShLIOp::create(b, loc, biased, i(52)));
    };
    // Two factors: 2^n itself may be too large or too small.
    return mul(mul(horner(r, coefficients), power(half)), power(arith::SubIOp::create(b, loc, bits, half)));
  }

  Value sin(Value x) { return turned(x, 0); }
  Value cos(Value x) { return turned(x, 1); }

private:
  OpBuilder &b;
  Location loc;

  static constexpr double shift = 6755399441055744.0; // 1.5 * 2^52: leaves the nearest integer in the low bits of a sum

  Value c(double value) { return arith::ConstantFloatOp::create(b, loc, b.getF64Type(), llvm::APFloat(value)); }
  Value i(int64_t value) { return arith::ConstantIntOp::create(b, loc, b.getI64Type(), value); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, loc, x, y, z); }
  Value bitsOf(Value x) { return arith::BitcastOp::create(b, loc, b.getI64Type(), x); }

  Value clamp(Value x, double low, double high) {
    auto choose = [&](arith::CmpFPredicate how, double limit) {
      Value beyond = arith::CmpFOp::create(b, loc, how, x, c(limit));
      x = arith::SelectOp::create(b, loc, beyond, c(limit), x);
    };
    choose(arith::CmpFPredicate::OLT, low);
    choose(arith::CmpFPredicate::OGT, high);
    return x;
  }

  Value horner(Value x, ArrayRef<double> coefficients) {
    Value sum = c(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, c(coefficient));
    return sum;
  }

  // sin(x + quarter turns): x = n pi / 2 + r with |r| <= pi / 4. pi / 2 in three parts; the multiply-add makes
  // x - n * first exact for every n that fits into 31 bits.
  Value turned(Value x, int64_t quarters) {
    Value shifted = fma(x, c(0.6366197723675814), c(shift)), n = sub(shifted, c(shift));
    Value r = fma(n, c(-1.5707963267948966), x);
    r = fma(n, c(-6.123233995736766e-17), r);
    r = fma(n, c(1.4973849048591833e-33), r);
    Value square = mul(r, r);
    SmallVector<double> odd{1}, even{1};
    for (int k = 1; k <= 9; ++k) {
      odd.push_back(-odd.back() / ((2 * k) * (2 * k + 1)));
      even.push_back(-even.back() / ((2 * k - 1) * (2 * k)));
    }
    Value sine = mul(horner(square, odd), r), cosine = horner(square, even);
    Value quadrant = arith::AddIOp::create(b, loc, bitsOf(shifted), i(quarters));
    auto bit = [&](int64_t mask) {
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, arith::AndIOp::create(b, loc, quadrant, i(mask)),
                                   i(0));
    };
    Value size = arith::SelectOp::create(b, loc, bit(1), cosine, sine);
    return arith::SelectOp::create(b, loc, bit(2), arith::NegFOp::create(b, loc, size), size);
  }
};

struct ExpandMath : impl::GpuExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    if (!gpu::isKernel(getOperation()))
      return;
    getOperation().walk([&](Operation *op) {
      if (!isa<math::MathDialect>(op->getDialect()))
        return;
      OpBuilder b(op);
      Value x = op->getOperand(0), result;
      if (x.getType().isF32()) {
        Formula f(b, op->getLoc(), x.getType(), /*fused=*/true);
        result = f.of(op, x);
      } else if (x.getType().isF64()) {
        DoubleFormula f(b, op->getLoc());
        result = llvm::TypeSwitch<Operation *, Value>(op)
                     .Case<math::ExpOp>([&](auto) { return f.exp(x); })
                     .Case<math::SinOp>([&](auto) { return f.sin(x); })
                     .Case<math::CosOp>([&](auto) { return f.cos(x); })
                     .Default([](Operation *) { return Value(); });
      }
      if (!result)
        return;
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    });
  }
};

} // namespace
} // namespace burin
