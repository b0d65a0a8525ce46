// burin-expand: replaces shorthands by the simpler ops they stand for, until only ops with a tile form of their own are
// left.
#include "mlir/IR/PatternMatch.h"
#include "passes/ir/burin.h"
#include "passes/ir/origin.h"
#include "passes/passes.h"

using namespace mlir;

namespace burin {

#define GEN_PASS_DEF_EXPAND
#include "passes/passes.h.inc"

namespace {

struct ExpandPass : impl::ExpandBase<ExpandPass> {
  void runOnOperation() override {
    SmallVector<Operation *> work;
    getOperation().walk([&](Expandable op) { work.push_back(op); });
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      Origin origin(op);
      OpBuilder builder(&getContext(), &origin);
      builder.setInsertionPoint(op);
      Operation *before = op->getPrevNode();
      SmallVector<Value> values = cast<Expandable>(op).expand(builder);
      if (values.empty())
        continue; // simple as it is
      for (Operation *made = before ? before->getNextNode() : &op->getBlock()->front(); made != op;
           made = made->getNextNode())
        if (isa<Expandable>(made))
          work.push_back(made);
      op->replaceAllUsesWith(values);
      op->erase();
    }
  }
};

} // namespace
} // namespace burin
