// Holds derived gradients against central differences of the forward function, both in double precision: a check of the
// adjoints that owes nothing to them.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tests/support/evaluator.h"

namespace burin::test {

// An entry's arguments or results by name, as its attributes say.
struct Slot {
  std::string name, role; // role: "input", "parameter", "gradient", "state", "output"
  int64_t offset = 0;     // bytes, in the buffer of the role; meaningless for inputs and outputs
  std::vector<int64_t> shape;
  bool integers = false;
};
std::vector<Slot> argumentsOf(mlir::func::FuncOp entry);
std::vector<Slot> resultsOf(mlir::func::FuncOp entry);

// Arguments of the joint function that follow from those of the forward function: loss_scale 1, accumulate 0, former
// gradients zero.
std::vector<Values> jointArguments(mlir::func::FuncOp joint, const std::vector<Values> &forward, double lossScale = 1);

// For each parameter and `directions` random directions d: the sum over gradient * d against (loss(x + h d) - loss(x -
// h d)) / 2h. A googletest failure names the parameter. The tolerance is relative to the gradient's norm.
void expectGradients(mlir::func::FuncOp forward, mlir::func::FuncOp joint, const std::vector<Values> &arguments,
                     int directions, double tolerance, uint64_t seed);

} // namespace burin::test
