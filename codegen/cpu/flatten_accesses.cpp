// What is left of tiles after the tile words are lowered: loads and stores of single elements (ids, bounds), and the
// views themselves.
#include "codegen/cpu/cpu.h"
#include "codegen/cpu/tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace burin {

#define GEN_PASS_DEF_CPUFLATTENACCESSES
#include "codegen/cpu/passes.h.inc"

using namespace mlir;
using namespace cpu;

namespace {

struct FlattenAccesses : impl::CpuFlattenAccessesBase<FlattenAccesses> {
  // The flat buffer and the index into it of element (indices) of a tile; null for a buffer that is flat already.
  static FailureOr<std::pair<Value, Value>> flatten(Operation *op, Value memref, ValueRange indices) {
    OpBuilder b(op);
    Tile tile = resolveTile(b, op->getLoc(), memref);
    if (!tile.flat)
      return failure();
    Emitter e{b, op->getLoc()};
    Value at = tile.offset;
    for (auto [index, stride] : llvm::zip_equal(indices, tile.strides))
      at = e.add(at, e.mul(index, stride));
    return std::pair(tile.flat, at);
  }

  static bool isFlat(Value memref) {
    return isa<BlockArgument>(memref) ||
           (memref.getDefiningOp<memref::ViewOp>() && cast<MemRefType>(memref.getType()).getRank() == 1);
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr("burin.kernel"))
      return;
    SmallVector<Operation *> views;
    WalkResult walked = function.walk([&](Operation *op) {
      if (auto load = dyn_cast<memref::LoadOp>(op); load && !isFlat(load.getMemref())) {
        auto flat = flatten(op, load.getMemref(), load.getIndices());
        if (failed(flat))
          return WalkResult::interrupt();
        load.getMemrefMutable().assign(flat->first);
        load.getIndicesMutable().assign(flat->second);
      } else if (auto store = dyn_cast<memref::StoreOp>(op); store && !isFlat(store.getMemref())) {
        auto flat = flatten(op, store.getMemref(), store.getIndices());
        if (failed(flat))
          return WalkResult::interrupt();
        store.getMemrefMutable().assign(flat->first);
        store.getIndicesMutable().assign(flat->second);
      } else if (isa<memref::MemRefDialect>(op->getDialect()) && op->getNumResults() == 1 &&
                 isa<MemRefType>(op->getResult(0).getType())) {
        views.push_back(op);
      }
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    for (Operation *view : llvm::reverse(views))
      if (view->use_empty())
        view->erase();
  }
};

} // namespace
} // namespace burin
