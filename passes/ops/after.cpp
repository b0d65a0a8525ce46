// after: a copy that waits. See the .td file.
#include "passes/ops/after.h"

#include "passes/tile/builder.h"

using namespace mlir;

namespace burin {

LogicalResult AfterOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return success();
}

Cost AfterOp::cost() { return {}; }

// dx = dy
void AfterOp::adjoint(AdjointBuilder &, ValueRange resultGradients, MutableArrayRef<Value> operandGradients) {
  operandGradients[1] = resultGradients[0];
}

// What is copied is small beside what waits for it.
int64_t AfterOp::cells(TargetAttr) { return 1; }

void AfterOp::tile(TileBuilder &t, Value, ArrayRef<Stored> operands, ArrayRef<Stored> results) {
  const Strided &x = operands[1].where;
  SmallVector<Value> start(x.sizes.size(), t.index(0));
  t.copy(t.tile(operands[1], start, x.sizes), t.tile(results[0], start, x.sizes));
}

} // namespace burin

#include "passes/ops/after.inc"
