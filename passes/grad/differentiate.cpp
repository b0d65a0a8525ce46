// Reverse-mode differentiation on the IR: walks an entry backwards and lets each op build its own adjoint. Knows no op.
#include "passes/grad/sums.h"
#include "passes/ir/burin.h"
#include "passes/ir/origin.h"
#include "passes/ir/place.h"
#include "passes/passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace burin {

#define GEN_PASS_DEF_DIFFERENTIATE
#include "passes/passes.h.inc"

namespace {

using mlir::Operation;
using mlir::Value;

llvm::StringRef nameOf(mlir::func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<mlir::StringAttr>(argument, "burin.name");
  return name ? name.getValue() : "";
}

class ReverseSweep {
public:
  explicit ReverseSweep(mlir::func::FuncOp function)
      : function(function), body(&function.getBody().front()), returnOp(body->getTerminator()), b(returnOp) {}

  llvm::LogicalResult run() {
    if (failed(findLoss()))
      return mlir::failure();
    findParameters();
    findActive();
    addArguments();
    gradients[loss] = lossScale;
    llvm::SmallVector<Operation *> forward;
    for (Operation &op : body->without_terminator())
      forward.push_back(&op);
    for (Operation *op : llvm::reverse(forward))
      if (failed(walkBack(op)))
        return mlir::failure();
    finish();
    return mlir::success();
  }

private:
  llvm::LogicalResult findLoss() {
    for (auto [i, value] : llvm::enumerate(returnOp->getOperands())) {
      auto name = function.getResultAttrOfType<mlir::StringAttr>(i, "burin.name");
      if (!name || name.getValue() != "loss")
        continue;
      auto type = mlir::cast<mlir::RankedTensorType>(value.getType());
      if (type.getRank() != 0 || !type.getElementType().isF32())
        return function.emitError() << "the loss must be an f32 scalar to be differentiated, found " << type;
      loss = value;
      return mlir::success();
    }
    return function.emitError() << "there is no result named 'loss' to differentiate";
  }

  void findParameters() {
    for (mlir::BlockArgument argument : body->getArguments()) {
      auto role = function.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), "burin.role");
      if (role && role.getValue() == "parameter")
        parameters.push_back(argument);
    }
  }

  // Which values depend on a parameter and matter to the loss. Only they have gradients.
  void findActive() {
    llvm::DenseSet<Value> dependent(parameters.begin(), parameters.end());
    for (Operation &op : body->without_terminator()) {
      if (op.hasTrait<NoDerivative>() ||
          llvm::none_of(op.getOperands(), [&](Value v) { return dependent.contains(v); }))
        continue;
      for (Value result : op.getResults())
        if (mlir::getElementTypeOrSelf(result).isF32())
          dependent.insert(result);
    }
    llvm::DenseSet<Value> matters = {loss};
    for (Operation &op : llvm::reverse(body->without_terminator()))
      if (!op.hasTrait<NoDerivative>() && llvm::any_of(op.getResults(), [&](Value v) { return matters.contains(v); }))
        matters.insert(op.operand_begin(), op.operand_end());
    for (Value value : dependent)
      if (matters.contains(value))
        active.insert(value);
  }

  // After the model's own arguments: loss_scale, accumulate, and the gradients as they were.
  void addArguments() {
    auto scalar = mlir::RankedTensorType::get({}, b.getF32Type());
    auto add = [&](mlir::Type type, llvm::StringRef role, llvm::StringRef name, mlir::Location loc) {
      unsigned index = function.getNumArguments();
      auto attributes = b.getDictionaryAttr(
          {b.getNamedAttr("burin.role", b.getStringAttr(role)), b.getNamedAttr("burin.name", b.getStringAttr(name))});
      (void)function.insertArgument(index, type, attributes, loc);
      return function.getArgument(index);
    };
    lossScale = add(scalar, "input", "loss_scale", function.getLoc());
    Value accumulate = add(scalar, "input", "accumulate", function.getLoc());
    for (mlir::BlockArgument parameter : parameters) {
      mlir::BlockArgument former =
          add(parameter.getType(), "gradient", nameOf(function, parameter.getArgNumber()), parameter.getLoc());
      function.setArgAttr(former.getArgNumber(), "burin.offset",
                          function.getArgAttr(parameter.getArgNumber(), "burin.offset"));
      formerGradients[parameter] = former;
    }
    // Before everything else: what is expanded later, in the forward part, may ask too.
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(body);
    overwrite = isZero(b, function.getLoc(), accumulate);
  }

  // A parameter's former gradient and the first part of the new one, or the part alone.
  Value withFormer(Value parameter, Value part, mlir::Location loc) {
    Value former = formerGradients.lookup(parameter);
    if (part.getDefiningOp<AddsInto>())
      return sum(b, loc, choose(b, loc, overwrite, zeros(b, loc, part.getType()), former), part);
    return choose(b, loc, overwrite, part, sum(b, loc, former, part));
  }

  llvm::LogicalResult walkBack(Operation *op) {
    llvm::SmallVector<Value> resultGradients;
    for (Value result : op->getResults())
      resultGradients.push_back(gradients.lookup(result));
    auto isActive = [&](Value v) { return active.contains(v); };
    if (llvm::none_of(resultGradients, [](Value g) { return bool(g); }) || llvm::none_of(op->getOperands(), isActive))
      return mlir::success();
    auto differentiable = mlir::dyn_cast<Differentiable>(op);
    if (!differentiable)
      return op->emitError() << "'" << op->getName().stripDialect()
                             << "' has no derivative but lies between a parameter and the loss: " << pathThrough(op);
    Origin origin(op);
    b.setListener(&origin);
    AdjointBuilder builder{b, op->getLoc(), isActive};
    llvm::SmallVector<Value> operandGradients(op->getNumOperands());
    differentiable.adjoint(builder, resultGradients, operandGradients);
    b.setListener(nullptr);
    for (auto [operand, gradient] : llvm::zip(op->getOperands(), operandGradients)) {
      if (!gradient || !isActive(operand))
        continue;
      if (gradient.getType() != operand.getType())
        return op->emitError() << "internal error: the adjoint of '" << op->getName().stripDialect() << "' gives "
                               << gradient.getType() << " for an operand of type " << operand.getType()
                               << " (please report)";
      Value &total = gradients[operand];
      if (total)
        total = sum(b, op->getLoc(), total, gradient);
      else
        total = formerGradients.contains(operand) ? withFormer(operand, gradient, operand.getLoc()) : gradient;
    }
    return mlir::success();
  }

  // "layers.0.w -> matmul -> sort -> add -> loss": one way from a parameter through `op` to the loss.
  std::string pathThrough(Operation *op) {
    std::string path;
    Operation *at = op;
    while (at) {
      Value operand = *llvm::find_if(at->getOperands(), [&](Value v) { return active.contains(v); });
      if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(operand)) {
        path = nameOf(function, argument.getArgNumber()).str() + path;
        break;
      }
      at = operand.getDefiningOp();
      path = " -> " + at->getName().stripDialect().str() + path;
    }
    at = op;
    while (at) {
      path += " -> " + at->getName().stripDialect().str();
      Operation *next = nullptr;
      for (Value result : at->getResults())
        for (Operation *reader : result.getUsers())
          if (llvm::any_of(reader->getResults(), [&](Value v) { return active.contains(v); }))
            next = reader;
      at = next;
    }
    return path + " -> loss";
  }

  void finish() {
    unsigned first = function.getNumResults();
    llvm::SmallVector<mlir::Type> resultTypes(function.getResultTypes());
    for (mlir::BlockArgument parameter : parameters) {
      Value gradient = gradients.lookup(parameter);
      if (!gradient)
        gradient = withFormer(parameter, zeros(b, parameter.getLoc(), parameter.getType()), parameter.getLoc());
      returnOp->insertOperands(returnOp->getNumOperands(), gradient);
      resultTypes.push_back(parameter.getType());
    }
    function.setType(b.getFunctionType(function.getArgumentTypes(), resultTypes));
    for (auto [i, parameter] : llvm::enumerate(parameters)) {
      function.setResultAttr(first + i, "burin.role", b.getStringAttr("gradient"));
      for (llvm::StringRef attribute : {"burin.name", "burin.offset"})
        function.setResultAttr(first + i, attribute, function.getArgAttr(parameter.getArgNumber(), attribute));
    }
    function->removeAttr("burin.differentiate");
  }

  mlir::func::FuncOp function;
  mlir::Block *body;
  Operation *returnOp;
  mlir::OpBuilder b; // before the return

  Value loss, lossScale, overwrite;
  llvm::SmallVector<mlir::BlockArgument> parameters;
  llvm::DenseSet<Value> active;
  llvm::DenseMap<Value, Value> gradients; // times loss_scale; a parameter's with the former one
  llvm::DenseMap<Value, Value> formerGradients;
};

struct DifferentiatePass : impl::DifferentiateBase<DifferentiatePass> {
  void runOnOperation() override {
    if (getOperation()->hasAttr("burin.differentiate") && failed(ReverseSweep(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace burin
