// concat: one tensor after the other. See the .td file.
#include "passes/ops/concat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/ops/slice.h"
#include "passes/tile/builder.h"

using namespace mlir;

namespace burin {

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (adaptor.getParts().empty())
    return emitOptionalError(location, "concat needs at least one tensor");
  auto first = dyn_cast<RankedTensorType>(adaptor.getParts().front().getType());
  SmallVector<int64_t> sizes;
  for (Value part : adaptor.getParts()) {
    auto tensor = dyn_cast<RankedTensorType>(part.getType());
    if (!first || !tensor || !tensor.hasStaticShape() || tensor.getRank() == 0 ||
        tensor.getElementType() != first.getElementType() || tensor.getRank() != first.getRank() ||
        tensor.getShape().drop_front() != first.getShape().drop_front())
      return emitOptionalError(location, "the tensors of a concat must agree in all but the first dimension, found ",
                               adaptor.getParts().front().getType(), " and ", part.getType());
    if (sizes.empty())
      sizes.assign(tensor.getShape().begin(), tensor.getShape().end());
    else
      sizes[0] += tensor.getDimSize(0);
  }
  types.push_back(first.clone(sizes));
  return success();
}

Cost ConcatOp::cost() { return {}; }

// dparts[i] = the rows of dy where parts[i] went
void ConcatOp::adjoint(AdjointBuilder &b, ValueRange resultGradients, MutableArrayRef<Value> operandGradients) {
  int64_t start = 0;
  for (auto [i, part] : llvm::enumerate(getParts())) {
    const int64_t rows = cast<RankedTensorType>(part.getType()).getDimSize(0);
    if (b.needs(part))
      operandGradients[i] = b.make<SliceOp>(resultGradients[0], start, rows);
    start += rows;
  }
}

// A cell copies one part.
int64_t ConcatOp::cells(TargetAttr) { return getParts().size(); }

void ConcatOp::tile(TileBuilder &t, Value cell, ArrayRef<Stored> operands, ArrayRef<Stored> results) {
  int64_t start = 0;
  for (auto [i, part] : llvm::enumerate(operands)) {
    Value mine = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq, cell, t.index(i));
    auto branch = scf::IfOp::create(t.b, t.loc, mine, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> from(part.where.sizes.size(), t.index(0)), to(from);
    to[0] = t.index(start);
    t.copy(t.tile(part, from, part.where.sizes), t.tile(results[0], to, part.where.sizes));
    start += part.where.sizes[0];
  }
}

} // namespace burin

#include "passes/ops/concat.inc"
