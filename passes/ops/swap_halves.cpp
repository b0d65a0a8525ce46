// swap_halves: the halves of each row exchanged.
#include "passes/ops/swap_halves.h"
#include "passes/ir/infer.h"
#include "passes/ops/rows.h"

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

static int64_t perCell(SwapHalvesOp op, TargetAttr target) {
  return rowsPerCell(2 * 4 * op.getX().getType().getShape().back(), target);
}

int64_t SwapHalvesOp::cells(TargetAttr target) {
  return llvm::divideCeil(rowCount(getX().getType().getShape()), perCell(*this, target));
}

void SwapHalvesOp::tile(TileBuilder &t, Value cell, ArrayRef<Stored> operands, ArrayRef<Stored> results) {
  ArrayRef<int64_t> shape = getX().getType().getShape();
  const int64_t half = shape.back() / 2;
  SmallVector<int64_t> sizes(shape.size() - 1, 0);
  sizes.push_back(half);
  forRowsOfCell(t, cell, rowCount(shape), perCell(*this, t.target), [&](Value row) {
    SmallVector<Value> low = rowIndices(t, row, shape.drop_back()), high = low;
    low.push_back(t.index(0));
    high.push_back(t.index(half));
    t.copy(t.tile(operands[0], high, sizes), t.tile(results[0], low, sizes));
    t.copy(t.tile(operands[0], low, sizes), t.tile(results[0], high, sizes));
  });
}

// dx = the halves of dy exchanged
void SwapHalvesOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = b.make<SwapHalvesOp>(gradients[0]);
}

} // namespace burin

#include "passes/ops/swap_halves.inc"
