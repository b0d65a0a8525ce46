// The finite differences of gradient.h.
#include "tests/support/gradient.h"

#include <cmath>

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "gtest/gtest.h"

namespace burin::test {

namespace {

template <typename GetAttribute> Slot slotOf(mlir::Type type, GetAttribute get) {
  auto tensor = mlir::cast<mlir::RankedTensorType>(type);
  Slot slot;
  if (auto name = mlir::dyn_cast_if_present<mlir::StringAttr>(get("burin.name")))
    slot.name = name.str();
  if (auto role = mlir::dyn_cast_if_present<mlir::StringAttr>(get("burin.role")))
    slot.role = role.str();
  if (auto offset = mlir::dyn_cast_if_present<mlir::IntegerAttr>(get("burin.offset")))
    slot.offset = offset.getInt();
  slot.shape = tensor.getShape().vec();
  slot.integers = tensor.getElementType().isInteger();
  return slot;
}

size_t lossOf(mlir::func::FuncOp function) {
  std::vector<Slot> results = resultsOf(function);
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].name == "loss")
      return i;
  throw std::runtime_error("the function has no result named loss");
}

} // namespace

std::vector<Slot> argumentsOf(mlir::func::FuncOp entry) {
  std::vector<Slot> slots;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    slots.push_back(
        slotOf(entry.getArgumentTypes()[i], [&](llvm::StringRef name) { return entry.getArgAttr(i, name); }));
  return slots;
}

std::vector<Slot> resultsOf(mlir::func::FuncOp entry) {
  std::vector<Slot> slots;
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    slots.push_back(
        slotOf(entry.getResultTypes()[i], [&](llvm::StringRef name) { return entry.getResultAttr(i, name); }));
  return slots;
}

std::vector<Values> jointArguments(mlir::func::FuncOp joint, const std::vector<Values> &forward, double lossScale) {
  std::vector<Values> arguments = forward;
  std::vector<Slot> slots = argumentsOf(joint);
  for (size_t i = forward.size(); i < slots.size(); ++i)
    arguments.emplace_back(slots[i].shape, slots[i].name == "loss_scale" ? lossScale : 0.0);
  return arguments;
}

void expectGradients(mlir::func::FuncOp forward, mlir::func::FuncOp joint, const std::vector<Values> &arguments,
                     int directions, double tolerance, uint64_t seed) {
  // Far above the rounding of doubles, far below the scale on which losses bend.
  constexpr double h = 1e-5;
  const size_t loss = lossOf(forward);
  const std::vector<Slot> slots = argumentsOf(forward), jointResults = resultsOf(joint);
  const Results results = evaluate(joint, jointArguments(joint, arguments));
  Random random(seed);
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].role != "parameter")
      continue;
    const Values *gradient = nullptr;
    for (size_t r = 0; r < jointResults.size(); ++r)
      if (jointResults[r].role == "gradient" && jointResults[r].name == slots[i].name)
        gradient = &results[r];
    ASSERT_TRUE(gradient) << "no gradient of " << slots[i].name;
    double squares = 0;
    for (double g : gradient->data)
      squares += g * g;
    for (int direction = 0; direction < directions; ++direction) {
      std::vector<Values> above = arguments, below = arguments;
      double derived = 0;
      for (int64_t e = 0; e < gradient->size(); ++e) {
        const double d = random.normal();
        above[i][e] += h * d;
        below[i][e] -= h * d;
        derived += (*gradient)[e] * d;
      }
      const double measured = (evaluate(forward, above)[loss][0] - evaluate(forward, below)[loss][0]) / (2 * h);
      const double error = std::abs(derived - measured);
      // Not `>`: a NaN must fail.
      if (!(error <= tolerance * (std::sqrt(squares) + std::abs(measured) + 1e-3))) {
        ADD_FAILURE() << "the gradient of " << slots[i].name << " in random direction " << direction << " is "
                      << derived << ", but the forward function rises by " << measured << " (norm of the gradient "
                      << std::sqrt(squares) << ", tolerance " << tolerance << ")";
        break;
      }
    }
  }
}

} // namespace burin::test
