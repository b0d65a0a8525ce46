// swap_pairs: neighbours in the last dimension exchanged.
#include "passes/ops/swap_pairs.h"
#include "passes/ir/infer.h"

using namespace mlir;

namespace burin {

namespace {
struct SwapPairs {
  static constexpr std::string_view mnemonic = "swap_pairs";
  static Shape shape(const Shape &x) {
    check(x.rank() >= 1 && x.back() % 2 == 0, "pairs need an even last dimension", "x", x);
    return x;
  }
  static Cost cost(const Shape &x) { return {.other = x.size()}; }
};
} // namespace

template <typename Op> static SwapPairs rule(Op) { return {}; }

Value SwapPairsOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  return SwapLanesOp::create(b, loc, operands[0]);
}

// dx = the pairs of dy exchanged
void SwapPairsOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = b.make<SwapPairsOp>(gradients[0]);
}

} // namespace burin

#include "passes/ops/swap_pairs.inc"
