// Functions on f32 become the polynomials of codegen/math, for scalars and vectors alike.
#include "codegen/cpu/cpu.h"
#include "codegen/cpu/tile.h"
#include "codegen/math/formulas.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace burin {

#define GEN_PASS_DEF_CPUEXPANDMATH
#include "codegen/cpu/passes.h.inc"

using namespace mlir;
using namespace cpu;

namespace {

class CpuFormula : public Formula {
public:
  using Formula::Formula;

protected:
  // One instruction of AVX-512, with the same result.
  Value scaleByPower(Value x, Value shifted, Value turns) override {
    auto vector = dyn_cast<VectorType>(real);
    if (!vector || vector.getNumElements() != 16) // no CPU without it has such vectors
      return Formula::scaleByPower(x, shifted, turns);
    const Value all = arith::ConstantIntOp::create(b, loc, b.getI16Type(), -1),
                current = arith::ConstantIntOp::create(b, loc, b.getI32Type(), 4); // rounding as it is set
    return LLVM::CallIntrinsicOp::create(b, loc, real, b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512"),
                                         ValueRange{x, turns, x, all, current})
        .getResult(0);
  }
};

struct ExpandMath : impl::CpuExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    TargetAttr target = kernelTarget(getOperation());
    if (!target) {
      if (getOperation()->hasAttr("burin.kernel"))
        signalPassFailure();
      return;
    }
    bool fused = hasFma(target), roundsToBf16 = hasBf16Dot(target);
    getOperation().walk([&](Operation *op) {
      if (auto narrowed = dyn_cast<arith::TruncFOp>(op);
          narrowed && !roundsToBf16 && getElementTypeOrSelf(narrowed.getType()).isBF16()) {
        OpBuilder b(op);
        CpuFormula f(b, op->getLoc(), narrowed.getIn().getType(), fused);
        narrowed.replaceAllUsesWith(f.bf16(narrowed.getIn(), narrowed.getType()));
        return op->erase();
      }
      // A NaN wins, as it must; which zero wins of two is left open, and that halves the instructions.
      if (auto maximum = dyn_cast<arith::MaximumFOp>(op))
        return maximum.setFastmath(arith::FastMathFlags::nsz);
      if (auto minimum = dyn_cast<arith::MinimumFOp>(op))
        return minimum.setFastmath(arith::FastMathFlags::nsz);
      if (!isa<math::MathDialect>(op->getDialect()) || !getElementTypeOrSelf(op->getResult(0)).isF32())
        return;
      OpBuilder b(op);
      CpuFormula f(b, op->getLoc(), op->getResult(0).getType(), fused);
      Value x = op->getOperand(0);
      Value result = f.of(op, x);
      if (auto fma = dyn_cast<math::FmaOp>(op); fma && !fused)
        result = f.multiplyAdd(fma.getA(), fma.getB(), fma.getC());
      if (!result)
        return;
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    });
  }
};

} // namespace
} // namespace burin
