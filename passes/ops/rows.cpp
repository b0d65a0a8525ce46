// Loops over the rows of a cell.
#include "passes/ops/rows.h"

using namespace mlir;

namespace burin {

int64_t rowCount(ArrayRef<int64_t> shape) { return llvm::product_of(shape.drop_back()); }

int64_t rowsPerCell(int64_t rowBytes, TargetAttr target) { return std::max<int64_t>(1, target.getL1() / 2 / rowBytes); }

void forRowsOfCell(TileBuilder &t, Value cell, int64_t rows, int64_t perCell, llvm::function_ref<void(Value)> body) {
  Value first = t.mul(cell, perCell), end = t.add(first, t.index(perCell));
  t.forEach(first, arith::MinUIOp::create(t.b, t.loc, end, t.index(rows)), body);
}

SmallVector<Value> rowIndices(TileBuilder &t, Value row, ArrayRef<int64_t> leading) {
  SmallVector<Value> indices(leading.size());
  for (size_t i = leading.size(); i-- > 0;) {
    if (i == 0) {
      indices[i] = row;
      break;
    }
    indices[i] = arith::RemUIOp::create(t.b, t.loc, row, t.index(leading[i]));
    row = arith::DivUIOp::create(t.b, t.loc, row, t.index(leading[i]));
  }
  return indices;
}

} // namespace burin
