// Single products, compiled and held against sums in double precision.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "burin.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tests/support/values.h"

namespace burin::test {

struct ProductCase {
  Shape a, b;
  Matmul how;
};

// Compiles the products as entries of `module`, which has none yet. `seen` is what a product sees of an operand: the
// operand itself, or rounded.
void expectProducts(mlir::OwningOpRef<mlir::ModuleOp> module, const std::vector<ProductCase> &cases,
                    const std::function<Values(const Values &)> &seen, const std::string &what);

} // namespace burin::test
