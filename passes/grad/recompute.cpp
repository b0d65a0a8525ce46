// Keep or recompute. The rule: a value of the forward part that backward ops read is computed again beside each of them
// when its op is element-wise, and all it reads is kept anyway (or is itself computed again by this rule). So memory
// falls; reductions are never repeated, and products only by option.
#include "passes/ir/burin.h"
#include "passes/passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace burin {

#define GEN_PASS_DEF_RECOMPUTE
#include "passes/passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;

class Recomputation {
public:
  Recomputation(mlir::func::FuncOp function, bool products) : body(&function.getBody().front()), products(products) {}

  // The op that makes the loss is the last of the forward part: everything after it belongs to the backward part.
  bool findLoss(mlir::func::FuncOp function) {
    for (auto [i, value] : llvm::enumerate(body->getTerminator()->getOperands())) {
      auto name = function.getResultAttrOfType<mlir::StringAttr>(i, "burin.name");
      if (name && name.getValue() == "loss")
        lossOp = value.getDefiningOp();
    }
    return lossOp;
  }

  int64_t run() {
    llvm::SmallVector<Operation *> forward;
    for (Operation &op : llvm::make_range(body->begin(), std::next(lossOp->getIterator()))) {
      forward.push_back(&op);
      if (mlir::isa<Contraction>(op))
        lastProduct = &op;
    }
    for (Operation *op : forward)
      if (mayRecompute(op))
        again.insert(op);
    int64_t recomputed = 0;
    // From the last to the first, so that what only a later copy reads is copied too.
    for (Operation *op : llvm::reverse(forward)) {
      if (!again.contains(op) || !readBackward(op->getResult(0)))
        continue;
      copyBesideReaders(op);
      ++recomputed;
    }
    return recomputed;
  }

private:
  bool isBackward(Operation *op) const { return lossOp->isBeforeInBlock(op) && op != body->getTerminator(); }

  bool readBackward(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) { return isBackward(user); });
  }

  bool mayRecompute(Operation *op) const {
    if (op->getNumOperands() == 0 || !(mlir::isa<Elementwise>(op) || (products && widens(op))))
      return false;
    if (mlir::cast<mlir::RankedTensorType>(op->getResult(0).getType()).getNumElements() == 1)
      return false; // takes no memory
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      Operation *maker = operand.getDefiningOp();
      return !maker || maker->getNumOperands() == 0 || again.contains(maker) || readBackward(operand);
    });
  }

  // A layer whose result is larger than its input. What the last product makes, the logits, is read by the backward
  // part right away.
  bool widens(Operation *op) const {
    auto product = mlir::dyn_cast<Contraction>(op);
    if (!product || op == lastProduct)
      return false;
    auto weight = mlir::cast<mlir::RankedTensorType>(op->getOperand(1).getType());
    return weight.getRank() == 2 &&
           weight.getDimSize(product.transposesRhs() ? 0 : 1) > weight.getDimSize(product.transposesRhs() ? 1 : 0);
  }

  void copyBesideReaders(Operation *op) {
    llvm::SmallVector<Operation *> readers;
    for (Operation *reader : op->getResult(0).getUsers())
      if (isBackward(reader) && !llvm::is_contained(readers, reader))
        readers.push_back(reader);
    // A product is repeated once, for the first of them.
    llvm::sort(readers, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
    Operation *copy = nullptr;
    for (Operation *reader : readers) {
      if (!copy || !mlir::isa<Contraction>(op))
        copy = mlir::OpBuilder(reader).clone(*op);
      copy->setAttr("burin.recompute", mlir::UnitAttr::get(op->getContext()));
      reader->replaceUsesOfWith(op->getResult(0), copy->getResult(0));
    }
  }

  mlir::Block *body;
  bool products;
  Operation *lastProduct = nullptr; // of the forward part
  Operation *lossOp = nullptr;
  llvm::DenseSet<Operation *> again;
};

struct RecomputePass : impl::RecomputeBase<RecomputePass> {
  using RecomputeBase::RecomputeBase;

  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    Recomputation recomputation(function, products);
    // Only a joint function has a backward part: it returns gradients.
    bool joint = false;
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      auto role = function.getResultAttrOfType<mlir::StringAttr>(i, "burin.role");
      joint |= role && role.getValue() == "gradient";
    }
    if (joint && recomputation.findLoss(function))
      recomputed += recomputation.run();
  }
};

} // namespace
} // namespace burin
