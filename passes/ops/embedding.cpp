// embedding: rows of a table, gathered by id.
#include "ops/embedding.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/ir/infer.h"
#include "passes/ops/constant.h"
#include "passes/ops/embedding.h"
#include "passes/ops/embedding_grad.h"
#include "passes/ops/rows.h"

using namespace mlir;

namespace burin {

template <typename Op> static Embedding rule(Op) { return {}; }

std::optional<std::pair<int64_t, int64_t>> EmbeddingOp::operandBounds(unsigned index) {
  if (index != 1)
    return std::nullopt;
  return std::pair<int64_t, int64_t>(0, getTable().getType().getDimSize(0));
}

static int64_t perCell(EmbeddingOp op, TargetAttr target) {
  return rowsPerCell(2 * 4 * op.getTable().getType().getDimSize(1), target);
}

int64_t EmbeddingOp::cells(TargetAttr target) {
  return llvm::divideCeil(getIds().getType().getNumElements(), perCell(*this, target));
}

void EmbeddingOp::tile(TileBuilder &t, Value cell, ArrayRef<Stored> operands, ArrayRef<Stored> results) {
  ArrayRef<int64_t> leading = getIds().getType().getShape();
  const int64_t width = getTable().getType().getDimSize(1);
  Value zero = t.index(0);
  forRowsOfCell(t, cell, getIds().getType().getNumElements(), perCell(*this, t.target), [&](Value row) {
    SmallVector<Value> at = rowIndices(t, row, leading);
    SmallVector<int64_t> sizes(leading.size(), 0);
    Value id = memref::LoadOp::create(t.b, t.loc, t.tile(operands[1], at, sizes), ValueRange());
    Value source =
        t.tile(operands[0], {arith::IndexCastOp::create(t.b, t.loc, t.b.getIndexType(), id), zero}, {0, width});
    at.push_back(zero);
    sizes.push_back(width);
    t.copy(source, t.tile(results[0], at, sizes));
  });
}

// dtable[r, :] = sum of dy[..., :] where ids = r
void EmbeddingOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  if (b.needs(getTable()))
    operandGradients[0] =
        b.make<EmbeddingGradOp>(getIds(), gradients[0], b.make<ConstantOp>(getTable().getType(), llvm::APFloat(0.0)));
}

} // namespace burin

#include "passes/ops/embedding.inc"
