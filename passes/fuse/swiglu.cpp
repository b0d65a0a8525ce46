// burin-fuse-swiglu: recognises the gated feed-forward layer and names it, so that its adjoint keeps two wide tensors
// and not four.
#include "passes/ops/swiglu.h"
#include "passes/fuse/not_fused.h"
#include "passes/ops/matmul.h"
#include "passes/ops/mul.h"
#include "passes/ops/silu.h"
#include "passes/ops/transpose.h"
#include "passes/passes.h"

using namespace mlir;

namespace burin {

#define GEN_PASS_DEF_FUSESWIGLU
#include "passes/passes.h.inc"

namespace {

// A linear layer: one weight matrix for all rows.
bool isLinear(MatmulOp product) {
  return product && product.getRhs().getType().getRank() == 2 && !product.getTransposeA();
}

// The weight as (out, in), seen through a transpose where it is stored the other way.
Value outByIn(OpBuilder &b, MatmulOp product) {
  if (product.getTransposeB())
    return product.getRhs();
  return TransposeOp::create(b, product.getLoc(), product.getRhs(), b.getDenseI64ArrayAttr({1, 0}));
}

struct FuseSwigluPass : impl::FuseSwigluBase<FuseSwigluPass> {
  void runOnOperation() override {
    SmallVector<MulOp> products;
    getOperation().walk([&](MulOp mul) { products.push_back(mul); });
    for (MulOp mul : products)
      if (!fuse(mul, mul.getLhs(), mul.getRhs()))
        fuse(mul, mul.getRhs(), mul.getLhs());
  }

  // Whether this is a gated layer, fused or not.
  bool fuse(MulOp mul, Value activated, Value other) {
    auto silu = activated.getDefiningOp<SiluOp>();
    auto gate = silu ? silu.getX().getDefiningOp<MatmulOp>() : nullptr;
    auto up = other.getDefiningOp<MatmulOp>();
    if (!isLinear(gate) || !isLinear(up) || gate.getType() != up.getType())
      return false;
    auto decline = [&](const Twine &why) {
      notFused(mul, "swiglu", why, bytesOf(silu.getType()));
      return true;
    };
    if (gate.getLhs() != up.getLhs())
      return decline("the gate and the other product read different inputs");
    // A second reader would keep the wide intermediate alive, and fusing would compute it twice.
    if (!gate->hasOneUse())
      return decline("the product under the gate has a second reader");
    if (!silu->hasOneUse())
      return decline("the gate has a second reader");
    if (!up->hasOneUse())
      return decline("the product beside the gate has a second reader");
    OpBuilder b(mul);
    auto fusedOp = SwigluOp::create(b, mul.getLoc(), gate.getLhs(), outByIn(b, gate), outByIn(b, up));
    mul.getResult().replaceAllUsesWith(fusedOp.getY());
    for (Operation *op : {mul.getOperation(), silu.getOperation(), gate.getOperation(), up.getOperation()})
      op->erase();
    ++fused;
    return true;
  }
};

} // namespace
} // namespace burin
