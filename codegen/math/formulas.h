// Functions as polynomials, for scalars and vectors alike, so that every machine computes the same numbers. Infinities,
// NaN, overflow and underflow are those of the exact function. Coefficients in f32 are minimax fits rounded to single
// precision (Sollya's fpminimax; erf's far part: Lawson's iteration). With `ulp` a unit in the last place of the exact
// result, the greatest errors over all floats are at most
//   exp, log 1    exp2, erf, rsqrt 1.5    tanh 2
// where a multiply-add is one instruction, and half a unit more where it is two. tests/codegen/cpu/math_test.cpp
// measures them.
//
//   Formula f(b, loc, x.getType(), /*fused=*/true);
//   Value y = f.exp(x);
#pragma once

#include "mlir/IR/Builders.h"
#include "llvm/ADT/ArrayRef.h"

namespace burin {

// A constant of a type: a scalar, or a vector of equal elements.
mlir::Value splat(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, double value);

// Arithmetic on values of one type: f32 or a vector of it, and integers of the same width. `fused`: whether a
// multiply-add is one instruction.
class Formula {
public:
  Formula(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type, bool fused);
  virtual ~Formula() = default;

  // What an op of the math dialect with one operand computes; null for those that are not here.
  mlir::Value of(mlir::Operation *op, mlir::Value x);

  mlir::Value exp(mlir::Value x);
  mlir::Value exp2(mlir::Value x);
  mlir::Value log(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  mlir::Value erf(mlir::Value x);
  mlir::Value rsqrt(mlir::Value x);
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value z);
  // To the nearest bf16, ties to even.
  mlir::Value bf16(mlir::Value x, mlir::Type type);

protected:
  // x * 2^turns; the low bits of `shifted` hold turns as an integer. A machine may have an instruction for it.
  virtual mlir::Value scaleByPower(mlir::Value x, mlir::Value shifted, mlir::Value turns);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type real, integer;
  bool fused;

private:
  mlir::Value c(float value);
  mlir::Value i(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y);
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z);
  mlir::Value subtract(mlir::Value x, mlir::Value y);
  mlir::Value shiftLeft(mlir::Value x, int64_t by);
  mlir::Value shiftRight(mlir::Value x, int64_t by);
  mlir::Value bitsOf(mlir::Value x);
  mlir::Value realOf(mlir::Value x);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value clamp(mlir::Value x, float low, float high);
  mlir::Value withSign(mlir::Value size, mlir::Value x);
  mlir::Value horner(mlir::Value x, llvm::ArrayRef<float> coefficients);
  mlir::Value expNearZero(mlir::Value r);
};

} // namespace burin
