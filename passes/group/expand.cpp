// burin-expand: replaces shorthands by the simpler ops they stand for, until only ops with a tile form of their own are left.
#include "mlir/IR/PatternMatch.h"
#include "passes/ir/burin.h"
#include "passes/passes.h"

using namespace mlir;

namespace burin {

#define GEN_PASS_DEF_EXPAND
#include "passes/passes.h.inc"

namespace {

// Notes on every op that an expansion makes what it is a part of, so that launches and profiles speak the model's words.
struct Origin : OpBuilder::Listener {
  explicit Origin(StringAttr name) : name(name) {}
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { op->setAttr("burin.of", name); }
  StringAttr name;
};

struct ExpandPass : impl::ExpandBase<ExpandPass> {
  void runOnOperation() override {
    SmallVector<Operation *> work;
    getOperation().walk([&](Expandable op) { work.push_back(op); });
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      auto of = op->getAttrOfType<StringAttr>("burin.of");
      Origin origin(of ? of : StringAttr::get(&getContext(), op->getName().stripDialect()));
      OpBuilder builder(&getContext(), &origin);
      builder.setInsertionPoint(op);
      Operation *before = op->getPrevNode();
      SmallVector<Value> values = cast<Expandable>(op).expand(builder);
      if (values.empty())
        continue;  // simple as it is
      for (Operation *made = before ? before->getNextNode() : &op->getBlock()->front(); made != op; made = made->getNextNode())
        if (isa<Expandable>(made))
          work.push_back(made);
      op->replaceAllUsesWith(values);
      op->erase();
    }
  }
};

}  // namespace
}  // namespace burin
