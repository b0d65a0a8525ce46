// Interprets functions of the dialect in double precision, op by op, as far as the stage `grouped`. It is what
// everything compiled is held against, so it shares nothing with the compiler: an op means what its reference in
// tests/ops says, found by the mnemonic.
//
//   Results relu(const Call &call) {
//     return {elementwise(call.in(0), [](double x) { return std::max(x, 0.0); })};
//   }
//   std::vector<Values> outputs = evaluate(function, inputs);
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/values.h"

// Op tests stay quick to compile without MLIR's headers.
namespace mlir {
class Operation;
namespace func {
class FuncOp;
}
} // namespace mlir

namespace burin::test {

using Results = std::vector<Values>;

// One op and what its operands are.
class Call {
public:
  Call(mlir::Operation *op, std::vector<const Values *> inputs) : op(op), inputs(std::move(inputs)) {}

  const Values &in(size_t i) const { return *inputs.at(i); }
  size_t size() const { return inputs.size(); }

  // The op's attributes, by name. A missing one is an error, except that a missing flag is false.
  double real(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::string text(std::string_view name) const;
  std::vector<int64_t> integers(std::string_view name) const;
  bool has(std::string_view name) const;
  // The shape of result i, for ops whose result does not follow from the operands (a constant).
  std::vector<int64_t> resultShape(size_t i = 0) const;

  // What the terminator of a region of the op is given, with `arguments` for the block's arguments. A region of 0-d
  // values may be run on whole tensors: element-wise references broadcast.
  Results region(size_t index, const std::vector<Values> &arguments) const;

  mlir::Operation *const op;

private:
  std::vector<const Values *> inputs;
};

using Reference = std::function<Results(const Call &)>;

// Says what an op means; returns true so that it can initialise a static. Each mnemonic once.
bool defineReference(std::string_view mnemonic, Reference reference);
const std::map<std::string, Reference, std::less<>> &references();

// Throws std::runtime_error that names the op where it has no reference or its reference gives another shape than the
// op's type.
Results evaluate(mlir::func::FuncOp function, const std::vector<Values> &inputs);

} // namespace burin::test
