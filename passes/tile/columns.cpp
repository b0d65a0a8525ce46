// Reductions over leading dimensions: a cell owns some columns and walks all rows in order, so that the sum's shape
// does not depend on the threads. Element-wise ops that only the reduction reads are computed on the way.
#include <numeric>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/tile/kernel.h"

using namespace mlir;

namespace burin {

namespace {

// Evaluates a value of the body for one element.
struct Evaluation {
  OpBuilder &b;
  Location loc;
  DenseMap<Value, Value> values;
  llvm::function_ref<Value()> lane;

  Value operator()(Value value) {
    if (auto found = values.find(value); found != values.end())
      return found->second;
    Operation *op = value.getDefiningOp();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back((*this)(operand));
    return values[value] = cast<Elementwise>(op).scalar(b, loc, operands, lane);
  }
};

} // namespace

Work columnsWork(const GroupBody &body, TileBuilder &t) {
  auto reduction = cast<Reduction>(body.ops.back());
  Value source = reduction->getOperand(0);
  auto shape = cast<RankedTensorType>(source.getType()).getShape();
  SmallVector<int64_t> space(shape);
  // The reduced dimensions come first (the op's `expand` has seen to that).
  int64_t reduced = reduction.reducedDims().size();
  auto fields = std::make_shared<std::vector<Field>>();
  llvm::SmallSetVector<Value, 8> operands;
  if (body.read.count(source))
    operands.insert(source);
  for (Operation *op : ArrayRef(body.ops).drop_back())
    for (Value operand : op->getOperands())
      if (body.read.count(operand))
        operands.insert(operand);
  for (Value operand : operands)
    fields->push_back({operand, body.read.lookup(operand), stridesOver(body.read.lookup(operand).where, space)});
  auto [value, stored] = body.written.front();
  Strided kept = stored.where;
  if (!reduction.keepsDims()) {
    kept.sizes.insert(kept.sizes.begin(), reduced, 1);
    kept.strides.insert(kept.strides.begin(), reduced, 0);
  }
  auto result = std::make_shared<Field>(Field{value, stored, stridesOver(kept, space)});

  // Collapse the reduced dimensions and, apart from them, the kept ones.
  SmallVector<SmallVector<int64_t>> inner;
  for (Field &field : *fields)
    inner.emplace_back(field.strides.begin() + reduced, field.strides.end());
  inner.emplace_back(result->strides.begin() + reduced, result->strides.end());
  SmallVector<int64_t> columnSizes(space.begin() + reduced, space.end());
  if (columnSizes.empty()) {
    columnSizes.push_back(1);
    for (auto &list : inner)
      list.push_back(0);
  }
  SmallVector<int64_t> rowSizes(space.begin(), space.begin() + reduced);
  SmallVector<SmallVector<int64_t>> outerLists;
  for (Field &field : *fields)
    outerLists.emplace_back(field.strides.begin(), field.strides.begin() + reduced);
  auto pointers = [](auto &lists) {
    SmallVector<SmallVector<int64_t> *> all;
    for (auto &list : lists)
      all.push_back(&list);
    return all;
  };
  collapse(rowSizes, pointers(outerLists), rowSizes.size());
  collapse(columnSizes, pointers(inner), columnSizes.size());
  for (auto [i, field] : llvm::enumerate(*fields)) {
    field.strides = outerLists[i];
    field.strides.append(inner[i]);
  }
  result->strides.assign(rowSizes.size(), 0);
  result->strides.append(inner.back());

  int64_t columns = columnSizes.back(), lanes = t.target.getLanes();
  // Several registers of columns a cell, so that a row's part is several adjacent cache lines, which are fetched ahead
  // of their use; but narrow enough for several threads.
  const int64_t fewestCells = t.target.getCells(), fewest = std::max<int64_t>(lanes, std::min<int64_t>(64, 4 * lanes));
  int64_t step =
      std::min(columns, std::max<int64_t>(llvm::alignTo(llvm::divideCeil(columns, fewestCells), lanes), fewest));
  SmallVector<int64_t> grid(columnSizes.begin(), columnSizes.end() - 1);
  grid.push_back(llvm::divideCeil(columns, step));
  int64_t cells = std::accumulate(grid.begin(), grid.end(), int64_t(1), std::multiplies<>());
  return {
      cells, [=, &t, &body](Value cell) mutable {
        SmallVector<Value> at = delinearise(t, cell, grid);
        t.oneTile(at.back(), columns, step, [&](Value column, int64_t count) {
          SmallVector<Value> rowStart(rowSizes.size(), t.index(0)), columnStart(at.begin(), at.end() - 1);
          columnStart.push_back(column);
          bool single = columns == 1;
          // The sum is kept in scratch: the result may lie in the place of something that is still read.
          Value sum = single ? t.scratch({}, t.b.getF32Type()) : t.scratch({count}, t.b.getF32Type());
          t.fill(sum, t.f32(reduction.neutral()));
          // Loops over all reduced dimensions but the last, which belongs to the nest.
          std::function<void(size_t)> loops = [&](size_t dim) {
            if (dim + 1 < rowSizes.size()) {
              t.forEach(t.index(0), t.index(rowSizes[dim]), [&](Value i) {
                rowStart[dim] = i;
                loops(dim + 1);
              });
              return;
            }
            SmallVector<Value> start = rowStart;
            start.append(columnStart);
            SmallVector<Access> in;
            SmallVector<Value> order;
            size_t rowDim = rowSizes.size() - 1;
            bool covered[2] = {false, single};
            for (const Field &field : *fields) {
              int64_t rank = field.strides.size();
              SmallVector<int64_t> sizes(rank, 0), dims;
              if (field.strides[rowDim] != 0) {
                sizes[rowDim] = rowSizes[rowDim];
                dims.push_back(0);
                covered[0] = true;
              }
              if (!single && field.strides[rank - 1] != 0) {
                sizes[rank - 1] = count;
                dims.push_back(1);
                covered[1] = true;
              }
              Stored over{field.stored.base, {SmallVector<int64_t>(rank, 1), field.strides, field.stored.where.offset}};
              in.push_back({t.tile(over, start, sizes), dims});
              order.push_back(field.value);
            }
            int64_t extents[2] = {rowSizes[rowDim], count};
            for (int64_t loop = 0; loop < (single ? 1 : 2); ++loop)
              if (!covered[loop])
                in.push_back({t.scratch({extents[loop]}, t.b.getF32Type()), {loop}});
            Access out = single ? Access{sum, {}} : Access{sum, {1}};
            t.nest(single ? 1 : 2, in, {out}, [&](OpBuilder &b, Location loc, ValueRange scalars, ValueRange soFar) {
              Value laneValue;
              auto lane = [&]() -> Value {
                if (single)
                  return arith::ConstantIndexOp::create(b, loc, 0);
                if (!laneValue)
                  laneValue = arith::AddIOp::create(b, loc, linalg::IndexOp::create(b, loc, 1), column);
                return laneValue;
              };
              Evaluation evaluate{b, loc, DenseMap<Value, Value>(), lane};
              for (auto [i, each] : llvm::enumerate(order))
                evaluate.values[each] = scalars[i];
              return SmallVector<Value>{reduction.combine(b, loc, soFar[0], evaluate(source))};
            });
          };
          loops(0);
          SmallVector<Value> start = rowStart;
          start.append(columnStart);
          int64_t rank = result->strides.size();
          SmallVector<int64_t> sizes(rank, 0), steps(result->strides);
          if (!single) {
            sizes[rank - 1] = count;
            steps[rank - 1] = std::max<int64_t>(steps[rank - 1], 1);
          }
          Stored over{result->stored.base, {SmallVector<int64_t>(rank, 1), steps, result->stored.where.offset}};
          t.copy(sum, t.tile(over, std::move(start), sizes));
        });
      }};
}

} // namespace burin
