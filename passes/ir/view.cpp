// Values seen through views. See view.h.
#include "passes/ir/view.h"

#include "passes/ir/burin.h"

using namespace mlir;

namespace burin {

Behind lookThrough(Value value) {
  Behind behind{value, {}};
  while (auto *op = behind.value.getDefiningOp()) {
    if (!isa<View>(op))
      break;
    behind.views.insert(behind.views.begin(), op);
    behind.value = op->getOperand(0);
  }
  return behind;
}

FailureOr<Pieces> piecesOf(const Behind &behind) {
  ArrayRef<int64_t> whole = cast<RankedTensorType>(behind.value.getType()).getShape();
  Strided where = rowMajor(whole);
  for (Operation *view : behind.views) {
    auto next = cast<View>(view).viewOf(where);
    if (failed(next))
      return failure();
    where = *next;
  }
  return piecesOf(where, whole);
}

} // namespace burin
