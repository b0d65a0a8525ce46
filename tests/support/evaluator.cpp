// The interpreter of evaluator.h.
#include "tests/support/evaluator.h"

#include <stdexcept>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "passes/ir/burin.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"

namespace burin::test {

namespace {

std::string text(mlir::Operation *op) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  op->print(stream, mlir::OpPrintingFlags().skipRegions());
  return result;
}

std::map<std::string, Reference, std::less<>> &table() {
  static std::map<std::string, Reference, std::less<>> references;
  return references;
}

mlir::Attribute attributeOf(mlir::Operation *op, std::string_view name) {
  mlir::Attribute value = op->getAttr(llvm::StringRef(name));
  if (!value)
    throw std::runtime_error("no attribute '" + std::string(name) + "' on " + text(op));
  return value;
}

std::vector<int64_t> shapeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape().vec();
}

// A block's values while it runs. Every region of the dialect is isolated: it reads its arguments and nothing else.
class Frame {
public:
  explicit Frame(bool checksShapes) : checksShapes(checksShapes) {}

  Results run(mlir::Block &block, const std::vector<Values> &arguments) {
    if (block.getNumArguments() != arguments.size())
      throw std::runtime_error("a block of " + std::to_string(block.getNumArguments()) + " arguments got " +
                               std::to_string(arguments.size()));
    for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
      define(argument, value);
    for (mlir::Operation &op : block.without_terminator())
      runOp(&op);
    Results results;
    for (mlir::Value value : block.getTerminator()->getOperands())
      results.push_back(lookup(value));
    return results;
  }

private:
  void define(mlir::Value value, Values values) {
    if (checksShapes && shapeOf(value) != values.shape)
      throw std::runtime_error(
          "the reference gives shape " + describe(values.shape) + " for " +
          (value.getDefiningOp() ? text(value.getDefiningOp()) : "an argument of shape " + describe(shapeOf(value))));
    known[value] = std::move(values);
  }

  const Values &lookup(mlir::Value value) const {
    auto found = known.find(value);
    if (found == known.end())
      throw std::runtime_error("a region reads a value from outside");
    return found->second;
  }

  void runOp(mlir::Operation *op) {
    std::vector<const Values *> inputs;
    for (mlir::Value operand : op->getOperands())
      inputs.push_back(&lookup(operand));
    Results results;
    if (auto group = mlir::dyn_cast<GroupOp>(op)) {
      std::vector<Values> arguments;
      for (const Values *input : inputs)
        arguments.push_back(*input);
      results = Frame(checksShapes).run(group.getBody().front(), arguments);
    } else {
      llvm::StringRef mnemonic = op->getName().stripDialect();
      auto reference = table().find(std::string_view(mnemonic));
      if (op->getName().getDialectNamespace() != "burin" || reference == table().end())
        throw std::runtime_error("no reference for " + text(op));
      results = reference->second(Call(op, std::move(inputs)));
    }
    if (results.size() != op->getNumResults())
      throw std::runtime_error("the reference gives " + std::to_string(results.size()) + " results for " + text(op));
    for (auto [result, values] : llvm::zip(op->getResults(), results))
      define(result, std::move(values));
  }

  bool checksShapes;
  llvm::DenseMap<mlir::Value, Values> known;
};

} // namespace

double Call::real(std::string_view name) const {
  return mlir::cast<mlir::FloatAttr>(attributeOf(op, name)).getValueAsDouble();
}

int64_t Call::integer(std::string_view name) const {
  return mlir::cast<mlir::IntegerAttr>(attributeOf(op, name)).getInt();
}

bool Call::flag(std::string_view name) const {
  mlir::Attribute value = op->getAttr(llvm::StringRef(name));
  auto boolean = mlir::dyn_cast_if_present<mlir::BoolAttr>(value);
  return value && (!boolean || boolean.getValue());
}

std::string Call::text(std::string_view name) const {
  return mlir::cast<mlir::StringAttr>(attributeOf(op, name)).str();
}

std::vector<int64_t> Call::integers(std::string_view name) const {
  return mlir::cast<mlir::DenseI64ArrayAttr>(attributeOf(op, name)).asArrayRef().vec();
}

bool Call::has(std::string_view name) const { return op->hasAttr(llvm::StringRef(name)); }

std::vector<int64_t> Call::resultShape(size_t i) const { return shapeOf(op->getResult(static_cast<unsigned>(i))); }

Results Call::region(size_t index, const std::vector<Values> &arguments) const {
  return Frame(/*checksShapes=*/false).run(op->getRegion(static_cast<unsigned>(index)).front(), arguments);
}

bool defineReference(std::string_view mnemonic, Reference reference) {
  if (!table().try_emplace(std::string(mnemonic), std::move(reference)).second)
    throw std::logic_error("two references for " + std::string(mnemonic));
  return true;
}

const std::map<std::string, Reference, std::less<>> &references() { return table(); }

Results evaluate(mlir::func::FuncOp function, const std::vector<Values> &inputs) {
  return Frame(/*checksShapes=*/true).run(function.getBody().front(), inputs);
}

} // namespace burin::test
