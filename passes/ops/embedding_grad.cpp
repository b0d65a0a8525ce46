// embedding_grad: rows added into a table, by id and in order.
#include "passes/ops/embedding_grad.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/ir/infer.h"
#include "passes/ops/rows.h"

using namespace mlir;

namespace burin {

namespace {
struct EmbeddingGrad {
  static constexpr std::string_view mnemonic = "embedding_grad";

  Shape shape(const Shape &ids, const Shape &dy, const Shape &start) const {
    check(dy.rank() >= 1 && Shape(ids).append(dy.back()) == dy, "there must be one row for each id", "ids", ids, "dy",
          dy);
    check(start.rank() == 2 && start[1] == dy.back(), "rows are added to rows as long as they are", "dy", dy, "start",
          start);
    return start;
  }
  static Dtype dtype(Dtype ids, Dtype dy, Dtype start) {
    check(ids == Dtype::i32 && dy == Dtype::f32 && start == Dtype::f32, "ids must be i32, dy and start f32", "ids", ids,
          "dy", dy, "start", start);
    return Dtype::f32;
  }
  static Cost cost(const Shape &, const Shape &dy, const Shape &) { return {.other = dy.size()}; }
};
} // namespace

template <typename Op> static EmbeddingGrad rule(Op) { return {}; }

unsigned EmbeddingGradOp::startOperand() { return getStartMutable().getOperandNumber(); }

namespace {
// What of the table one cell fills and adds to. Every cell reads all ids, in order, so sums do not depend on the cells.
struct Part {
  int64_t rows, columns;
};
} // namespace

// A strip of columns, whole vectors of them where the width allows cells of one size: all cells have the same work. A
// table that the second cache cannot hold is cut into runs of rows instead: it is memory that takes the time there, and
// a run is copied in one go, where it has to be, and still near when ids fall into it.
static Part partOf(EmbeddingGradOp op, TargetAttr target) {
  const int64_t rows = op.getY().getType().getDimSize(0), width = op.getY().getType().getDimSize(1),
                rowBytes = width * int64_t(sizeof(float));
  if (rows * rowBytes > target.getL2())
    return {std::clamp<int64_t>(target.getL2() / 8 / rowBytes, 1, rows), width};
  for (int64_t columns = 4 * target.getLanes(); columns >= target.getLanes(); columns -= target.getLanes())
    if (width % columns == 0)
      return {rows, columns};
  return {rows, width};
}

int64_t EmbeddingGradOp::cells(TargetAttr target) {
  const Part part = partOf(*this, target);
  return llvm::divideCeil(getY().getType().getDimSize(0), part.rows) * (getY().getType().getDimSize(1) / part.columns);
}

void EmbeddingGradOp::tile(TileBuilder &t, Value cell, ArrayRef<Stored> operands, ArrayRef<Stored> results) {
  ArrayRef<int64_t> leading = getIds().getType().getShape();
  const Part part = partOf(*this, t.target);
  const int64_t tableRows = getY().getType().getDimSize(0);
  const bool byRows = part.rows < tableRows;
  Value column = byRows ? t.index(0) : t.mul(cell, part.columns), run = byRows ? cell : t.index(0);
  t.oneTile(run, tableRows, part.rows, [&](Value first, int64_t rows) {
    const Stored &start = operands[startOperand()];
    if (start.base != results[0].base)
      t.copy(t.tile(start, {first, column}, {rows, part.columns}),
             t.tile(results[0], {first, column}, {rows, part.columns}));
    t.forEach(t.index(0), t.index(getIds().getType().getNumElements()), [&](Value row) {
      SmallVector<Value> at = rowIndices(t, row, leading);
      SmallVector<int64_t> sizes(leading.size(), 0);
      Value loaded = memref::LoadOp::create(t.b, t.loc, t.tile(operands[0], at, sizes), ValueRange());
      Value id = arith::IndexCastOp::create(t.b, t.loc, t.b.getIndexType(), loaded);
      OpBuilder::InsertionGuard guard(t.b);
      if (byRows) {
        Value within = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ult,
                                             arith::SubIOp::create(t.b, t.loc, id, first), t.index(rows));
        auto branch = scf::IfOp::create(t.b, t.loc, within, /*withElseRegion=*/false);
        t.b.setInsertionPointToStart(branch.thenBlock());
      }
      at.push_back(column);
      sizes.push_back(part.columns);
      Value sum = t.tile(results[0], {id, column}, {0, part.columns});
      t.map({sum, t.tile(operands[1], at, sizes)}, {sum}, [](OpBuilder &b, Location loc, ValueRange x) {
        return SmallVector<Value>{arith::AddFOp::create(b, loc, x[0], x[1])};
      });
    });
  });
}

} // namespace burin

#include "passes/ops/embedding_grad.inc"
