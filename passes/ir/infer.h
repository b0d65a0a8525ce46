// Between the dialect's types and the shape rules of dsl/ops, so that an op's result type and cost are stated once.
// A rule speaks in ModelErrors; none of them leaves these functions, since they must not cross LLVM's frames.
#pragma once

#include <optional>
#include <utility>

#include "core/graph.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace burin {

// These two throw a ModelError on more dimensions than a Shape holds; call them inside rules.
Shape shapeOf(llvm::ArrayRef<int64_t> sizes);
Shape shapeOf(mlir::Type tensor);
Dtype dtypeOf(mlir::Type tensor);
mlir::RankedTensorType tensorType(mlir::MLIRContext *context, const Shape &shape, Dtype dtype);

// Runs `body` and turns a ModelError into an error at `location`, if there is one.
llvm::LogicalResult catchModelError(std::optional<mlir::Location> location, llvm::function_ref<void()> body);

namespace detail {
using TypeRule = llvm::function_ref<std::pair<Shape, Dtype>(llvm::ArrayRef<Shape>, llvm::ArrayRef<Dtype>)>;
llvm::LogicalResult inferType(mlir::MLIRContext *context, std::optional<mlir::Location> location,
                              mlir::ValueRange operands, llvm::SmallVectorImpl<mlir::Type> &types, TypeRule rule);

// Calls f(operand...) with as many of the first indices as the rule's shape takes.
template <typename Rule, typename F> auto forOperands(F f) {
  if constexpr (requires(Rule rule, Shape x) { rule.shape(x); })
    return f(0);
  else if constexpr (requires(Rule rule, Shape x) { rule.shape(x, x); })
    return f(0, 1);
  else
    return f(0, 1, 2);
}
} // namespace detail

// The type of an op's single result by the rule that `make` gives: a struct of dsl/ops or one like it.
template <typename Make>
llvm::LogicalResult inferByRule(mlir::MLIRContext *context, std::optional<mlir::Location> location,
                                mlir::ValueRange operands, llvm::SmallVectorImpl<mlir::Type> &types, Make make) {
  return detail::inferType(context, location, operands, types,
                           [&](llvm::ArrayRef<Shape> shapes, llvm::ArrayRef<Dtype> dtypes) {
                             const auto rule = make();
                             return detail::forOperands<decltype(rule)>([&](auto... i) {
                               const Dtype dtype = resultDtype(rule, dtypes[i]...);
                               return std::pair(rule.shape(shapes[i]...), dtype);
                             });
                           });
}

// For verified ops: their shapes have passed the rule, so nothing is thrown.
template <typename Rule> Cost costByRule(const Rule &rule, mlir::ValueRange operands) {
  llvm::SmallVector<Shape> shapes;
  for (mlir::Value operand : operands)
    shapes.push_back(shapeOf(operand.getType()));
  return detail::forOperands<Rule>([&](auto... i) { return rule.cost(shapes[i]...); });
}

} // namespace burin
