#include "codegen/math/formulas.h"

#include <limits>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

namespace burin {

using namespace mlir;

// Added to a number below 2^22 it leaves the nearest integer in the low bits of the sum.
static constexpr float roundingShift = 12582912.0f; // 1.5 * 2^23
static constexpr float infinity = std::numeric_limits<float>::infinity();

Value splat(OpBuilder &b, Location loc, Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attribute = isa<FloatType>(element) ? TypedAttr(FloatAttr::get(element, value))
                                                : TypedAttr(IntegerAttr::get(element, static_cast<int64_t>(value)));
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, attribute);
  return arith::ConstantOp::create(b, loc, attribute);
}

static Value compare(OpBuilder &b, Location loc, arith::CmpFPredicate how, Value x, Value y) {
  return arith::CmpFOp::create(b, loc, how, x, y);
}

Formula::Formula(OpBuilder &b, Location loc, Type type, bool fused)
    : b(b), loc(loc), real(type), integer(b.getI32Type()), fused(fused) {
  if (auto vector = dyn_cast<VectorType>(type))
    integer = vector.clone(integer);
}

// To the nearest bf16, ties to even, as its bits: the upper half of x's, rounded by what the lower half carries over.
// A NaN stays one.
Value Formula::bf16(Value x, Type type) {
  Value bits = bitsOf(x), isOdd = arith::AndIOp::create(b, loc, shiftRight(bits, 16), i(1));
  Value rounded = arith::AddIOp::create(b, loc, bits, arith::AddIOp::create(b, loc, isOdd, i(0x7fff)));
  Value quiet = arith::OrIOp::create(b, loc, bits, i(0x400000));
  Value upper = shiftRight(select(compare(b, loc, arith::CmpFPredicate::UNO, x, x), quiet, rounded), 16);
  Type half = b.getI16Type();
  if (auto vector = dyn_cast<VectorType>(type))
    half = vector.clone(half);
  return arith::BitcastOp::create(b, loc, type, arith::TruncIOp::create(b, loc, half, upper));
}

Value Formula::of(Operation *op, Value x) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<math::ExpOp>([&](auto) { return exp(x); })
      .Case<math::Exp2Op>([&](auto) { return exp2(x); })
      .Case<math::LogOp>([&](auto) { return log(x); })
      .Case<math::TanhOp>([&](auto) { return tanh(x); })
      .Case<math::ErfOp>([&](auto) { return erf(x); })
      .Case<math::RsqrtOp>([&](auto) { return rsqrt(x); })
      .Default([](Operation *) { return Value(); });
}

Value Formula::exp(Value x) {
  // Beyond these the result is 0 or infinity; a NaN compares false and stays.
  x = clamp(x, -104.0f, 89.0f);
  Value shifted = fma(x, c(1.44269504089f), c(roundingShift)), turns = sub(shifted, c(roundingShift));
  // ln 2 in two parts; the first has so few bits that turns * part is exact.
  Value rest = fma(turns, c(2.12194440e-4f), fma(turns, c(-0.693359375f), x));
  return scaleByPower(expNearZero(rest), shifted, turns);
}

Value Formula::exp2(Value x) {
  x = clamp(x, -151.0f, 129.0f);
  Value shifted = add(x, c(roundingShift)), turns = sub(shifted, c(roundingShift));
  return scaleByPower(expNearZero(mul(sub(x, turns), c(0.693147181f))), shifted, turns);
}

// x = 2^n (1 + f) with 1 + f in [2/3, 4/3): log x = n ln 2 + f - f^2 / 2 + f^3 q(f).
Value Formula::log(Value x) {
  Value isTiny =
      compare(b, loc, arith::CmpFPredicate::OLT, x, c(1.17549435e-38f)); // no full mantissa: scale it up first
  Value normal = select(isTiny, mul(x, c(8388608.0f)), x);
  Value bits = bitsOf(normal), steps = shiftRight(subtract(bits, i(0x3f2aaaab)), 23);
  Value f = sub(realOf(subtract(bits, shiftLeft(steps, 23))), c(1.0f));
  Value n = add(arith::SIToFPOp::create(b, loc, real, steps), select(isTiny, c(-23.0f), c(0.0f)));
  Value square = mul(f, f);
  Value q = horner(f, {0.333333194255828857421875f, -0.2499989569187164306640625f, 0.20003868639469146728515625f,
                       -0.166768014430999755859375f, 0.14116315543651580810546875f, -0.1222603023052215576171875f,
                       0.13437502086162567138671875f, -0.127445161342620849609375f});
  // From the smallest part to the largest: only the last sum rounds at the size of the result.
  Value small = fma(mul(square, f), q, mul(n, c(-2.12194440e-4f)));
  Value result = fma(n, c(0.693359375f), add(f, fma(square, c(-0.5f), small)));
  result = select(compare(b, loc, arith::CmpFPredicate::OEQ, x, c(infinity)), x, result);
  Value outside = select(compare(b, loc, arith::CmpFPredicate::OEQ, x, c(0.0f)), c(-infinity),
                         c(std::numeric_limits<float>::quiet_NaN()));
  return select(compare(b, loc, arith::CmpFPredicate::OGT, x, c(0.0f)), result, outside);
}

// Near zero an odd polynomial, beyond it 1 - 2 / (exp(2 |x|) + 1).
Value Formula::tanh(Value x) {
  Value size = math::AbsFOp::create(b, loc, x), square = mul(x, x);
  Value near = horner(square, {-0.3333333432674407958984375f, 0.13333363831043243408203125f,
                               -5.39679713547229766845703125e-2f, 2.18200571835041046142578125e-2f,
                               -8.4749050438404083251953125e-3f, 2.41447682492434978485107421875e-3f});
  near = fma(mul(square, x), near, x);
  Value far = sub(c(1.0f), div(c(2.0f), add(exp(add(size, size)), c(1.0f))));
  return select(compare(b, loc, arith::CmpFPredicate::OLT, size, c(0.625f)), near, withSign(far, x));
}

// Near zero an odd polynomial, beyond it 1 - exp(p(|x|) - |x|).
Value Formula::erf(Value x) {
  Value size = math::AbsFOp::create(b, loc, x), square = mul(x, x);
  Value near =
      horner(square, {0.128379166126251220703125f, -0.3761263191699981689453125f, 0.112836770713329315185546875f,
                      -2.68585942685604095458984375e-2f, 5.19932247698307037353515625e-3f,
                      -8.125258027575910091400146484375e-4f, 8.3017905126325786113739013671875e-5f});
  near = fma(near, x, x);
  // From 3.93 on the result is 1; the polynomial is not meant to be read beyond.
  Value limited = select(compare(b, loc, arith::CmpFPredicate::OGT, size, c(4.0f)), c(4.0f), size);
  Value power =
      horner(limited, {-0.00019565584079828113f, -0.12767571210861206f, -0.6371821165084839f, -0.10393167287111282f,
                       0.02222692035138607f, -0.0030432024504989386f, 0.00019593349134083837f});
  Value far = sub(c(1.0f), exp(sub(power, limited)));
  return select(compare(b, loc, arith::CmpFPredicate::OLT, size, c(0.9277f)), near, withSign(far, x));
}

Value Formula::multiplyAdd(Value x, Value y, Value z) { return fma(x, y, z); }

Value Formula::rsqrt(Value x) { return div(c(1.0f), math::SqrtOp::create(b, loc, x)); }

Value Formula::c(float value) { return splat(b, loc, real, value); }
Value Formula::i(int64_t value) { return splat(b, loc, integer, static_cast<double>(value)); }
Value Formula::add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
Value Formula::sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
Value Formula::mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
Value Formula::div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
Value Formula::fma(Value x, Value y, Value z) {
  return fused ? math::FmaOp::create(b, loc, x, y, z).getResult() : add(mul(x, y), z);
}
Value Formula::subtract(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
Value Formula::shiftLeft(Value x, int64_t by) { return arith::ShLIOp::create(b, loc, x, i(by)); }
Value Formula::shiftRight(Value x, int64_t by) { return arith::ShRSIOp::create(b, loc, x, i(by)); }
Value Formula::bitsOf(Value x) { return arith::BitcastOp::create(b, loc, integer, x); }
Value Formula::realOf(Value x) { return arith::BitcastOp::create(b, loc, real, x); }
Value Formula::select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, loc, condition, x, y); }

Value Formula::clamp(Value x, float low, float high) {
  x = select(compare(b, loc, arith::CmpFPredicate::OLT, x, c(low)), c(low), x);
  return select(compare(b, loc, arith::CmpFPredicate::OGT, x, c(high)), c(high), x);
}

Value Formula::withSign(Value size, Value x) { return math::CopySignOp::create(b, loc, size, x); }

// coefficients[0] + x (coefficients[1] + x (...))
Value Formula::horner(Value x, ArrayRef<float> coefficients) {
  Value sum = c(coefficients.back());
  for (float coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, c(coefficient));
  return sum;
}

// exp(r) for |r| <= ln 2 / 2
Value Formula::expNearZero(Value r) {
  return horner(r,
                {1.0f, 1.0f, 0.49999988079071044921875f, 0.16666518151760101318359375f, 4.1669659316539764404296875e-2f,
                 8.3689652383327484130859375e-3f, 1.37445144355297088623046875e-3f});
}

// Two multiplications: 2^turns itself may be too large or too small for a float, and only the second one can round.
Value Formula::scaleByPower(Value x, Value shifted, Value) {
  Value n = subtract(bitsOf(shifted), i(0x4b400000)), half = shiftRight(n, 1);
  auto power = [&](Value exponent) { return realOf(shiftLeft(arith::AddIOp::create(b, loc, exponent, i(127)), 23)); };
  return mul(mul(x, power(half)), power(subtract(n, half)));
}

} // namespace burin
