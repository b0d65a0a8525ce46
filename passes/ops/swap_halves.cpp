// swap_halves: the halves of each row exchanged.
#include "passes/ops/swap_halves.h"
#include "passes/ir/infer.h"
#include "passes/tile/builder.h"

using namespace mlir;

namespace burin {

namespace {
struct SwapHalves {
  static constexpr std::string_view mnemonic = "swap_halves";
  static Shape shape(const Shape &x) {
    check(x.rank() >= 1 && x.back() % 2 == 0, "halves need an even last dimension", "x", x);
    return x;
  }
  static Cost cost(const Shape &) { return {}; }
};
} // namespace

template <typename Op> static SwapHalves rule(Op) { return {}; }

void SwapHalvesOp::permuteRows(TileBuilder &t, Value from, Value to) {
  ArrayRef<int64_t> sizes = cast<MemRefType>(to.getType()).getShape();
  const int64_t half = sizes.back() / 2;
  auto part = [&](Value tile, int64_t column) {
    return t.part(tile, {t.index(0), t.index(column)}, {sizes.front(), half});
  };
  t.copy(part(from, half), part(to, 0));
  t.copy(part(from, 0), part(to, half));
}

// dx = the halves of dy exchanged
void SwapHalvesOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = b.make<SwapHalvesOp>(gradients[0]);
}

} // namespace burin

#include "passes/ops/swap_halves.inc"
