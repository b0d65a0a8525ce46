// embedding_grad: rows added into a table, by id and in order.
#include "passes/ops/embedding_grad.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/ir/infer.h"
#include "passes/ops/rows.h"

using namespace mlir;

namespace burin {

namespace {
struct EmbeddingGrad {
  static constexpr std::string_view mnemonic = "embedding_grad";
  int64_t rows;

  Shape shape(const Shape &ids, const Shape &dy) const {
    check(dy.rank() >= 1 && Shape(ids).append(dy.back()) == dy, "there must be one row for each id", "ids", ids, "dy",
          dy);
    check(rows >= 1, "there must be at least one row", "rows", rows);
    return {rows, dy.back()};
  }
  static Dtype dtype(Dtype ids, Dtype dy) {
    check(ids == Dtype::i32 && dy == Dtype::f32, "ids must be i32 and dy f32", "ids", ids, "dy", dy);
    return Dtype::f32;
  }
  static Cost cost(const Shape &, const Shape &dy) { return {.other = dy.size()}; }
};
} // namespace

template <typename Op> static EmbeddingGrad rule(Op op) { return {.rows = int64_t(op.getRows())}; }

// Columns of one cell: whole vectors where the width allows cells of one size, else all of it in one cell.
static int64_t columnsPerCell(int64_t width, TargetAttr target) {
  for (int64_t columns = 4 * target.getLanes(); columns >= target.getLanes(); columns -= target.getLanes())
    if (width % columns == 0)
      return columns;
  return width;
}

int64_t EmbeddingGradOp::cells(TargetAttr target) {
  const int64_t width = getY().getType().getDimSize(1);
  return width / columnsPerCell(width, target);
}

void EmbeddingGradOp::tile(TileBuilder &t, Value cell, ArrayRef<Stored> operands, ArrayRef<Stored> results) {
  ArrayRef<int64_t> leading = getIds().getType().getShape();
  const int64_t columns = columnsPerCell(getY().getType().getDimSize(1), t.target);
  Value first = t.mul(cell, columns), zero = t.index(0);
  t.fill(t.tile(results[0], {zero, first}, {int64_t(getRows()), columns}), t.f32(0));
  t.forEach(zero, t.index(getIds().getType().getNumElements()), [&](Value row) {
    SmallVector<Value> at = rowIndices(t, row, leading);
    SmallVector<int64_t> sizes(leading.size(), 0);
    Value id = memref::LoadOp::create(t.b, t.loc, t.tile(operands[0], at, sizes), ValueRange());
    Value sum =
        t.tile(results[0], {arith::IndexCastOp::create(t.b, t.loc, t.b.getIndexType(), id), first}, {0, columns});
    at.push_back(first);
    sizes.push_back(columns);
    t.map({sum, t.tile(operands[1], at, sizes)}, {sum}, [](OpBuilder &b, Location loc, ValueRange x) {
      return SmallVector<Value>{arith::AddFOp::create(b, loc, x[0], x[1])};
    });
  });
}

} // namespace burin

#include "passes/ops/embedding_grad.inc"
