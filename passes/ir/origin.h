// Notes on every op that is built in place of another, or as its derivative, what it is a part of, so that launches and
// profiles speak the model's words.
#pragma once

#include "mlir/IR/Builders.h"

namespace burin {

// A listener for the builder that makes the new ops. Ops that say themselves what they are keep their own name.
struct Origin : mlir::OpBuilder::Listener {
  // The op whose place is taken: what it is a part of, or itself.
  explicit Origin(mlir::Operation *op) : name(op->getAttrOfType<mlir::StringAttr>(attribute)) {
    if (!name)
      name = mlir::StringAttr::get(op->getContext(), op->getName().stripDialect());
  }

  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override {
    if (op->getNumRegions() == 0)
      op->setAttr(attribute, name);
  }

  static constexpr llvm::StringLiteral attribute = "burin.of";
  mlir::StringAttr name;
};

} // namespace burin
