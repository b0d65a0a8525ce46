// Parses IR for tests and keeps what is said about it.
#pragma once

#include <string>
#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "passes/ir/burin.h"

namespace burin::test {

struct Reader {
  mlir::MLIRContext context;
  std::vector<std::string> messages;

  Reader() {
    context.loadDialect<BurinDialect, mlir::func::FuncDialect>();
    context.getDiagEngine().registerHandler(
        [&](mlir::Diagnostic &diagnostic) { messages.push_back(diagnostic.str()); });
  }

  mlir::OwningOpRef<mlir::ModuleOp> read(const std::string &text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  // The first error that reading a function with this body gives; empty where there is none.
  std::string errorOf(const std::string &arguments, const std::string &body) {
    messages.clear();
    read("func.func @f(" + arguments + ") {\n" + body + "\nreturn\n}");
    return messages.empty() ? "" : messages.front();
  }
};

} // namespace burin::test
