// What is left of tiles after the tile words are lowered: single elements that steer the kernel (ids, bounds). Every
// thread reads them, one writes them.
#include "codegen/gpu/gpu.h"
#include "codegen/gpu/tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace burin {

#define GEN_PASS_DEF_GPULOWERACCESSES
#include "codegen/gpu/passes.h.inc"

using namespace mlir;
using namespace gpu;

namespace {

struct LowerAccesses : impl::GpuLowerAccessesBase<LowerAccesses> {
  // The address of element (indices) of a tile.
  static Value addressOf(const Emitter &e, Value memref, ValueRange indices) {
    Tile tile = resolveTile(e.b, e.loc, memref);
    if (!tile.base)
      return {};
    Value offset = e.constant(0);
    for (auto [index, stride] : llvm::zip_equal(indices, tile.strides))
      offset = e.add(offset, e.mul(arith::IndexCastOp::create(e.b, e.loc, e.numberType(), index), stride));
    return e.at(tile.base, tile.element, offset);
  }

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isKernel(kernel))
      return;
    SmallVector<Operation *> accesses;
    kernel.walk([&](Operation *op) {
      if (isa<memref::LoadOp, memref::StoreOp>(op))
        accesses.push_back(op);
    });
    for (Operation *op : accesses) {
      OpBuilder b(op);
      Emitter e{b, op->getLoc(), b.getI64Type()};
      if (auto load = dyn_cast<memref::LoadOp>(op)) {
        Value address = addressOf(e, load.getMemref(), load.getIndices());
        if (!address)
          return signalPassFailure();
        load.replaceAllUsesWith(e.load(load.getType(), address));
      } else {
        auto store = cast<memref::StoreOp>(op);
        Value address = addressOf(e, store.getMemref(), store.getIndices());
        if (!address)
          return signalPassFailure();
        e.when(e.less(e.thread(), 1), [&] { e.store(store.getValueToStore(), address); });
      }
      op->erase();
    }
    // The views themselves, readers before what they read from.
    SmallVector<Operation *> views;
    kernel.walk([&](Operation *op) {
      if (op->getNumResults() == 1 && isa<MemRefType>(op->getResult(0).getType()))
        views.push_back(op);
    });
    for (Operation *view : llvm::reverse(views))
      if (view->use_empty())
        view->erase();
  }
};

} // namespace
} // namespace burin
