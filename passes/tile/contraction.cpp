// Products with everything that follows them row by row: a cell is a block of rows times a block of columns; each
// product goes into a tile that stays in cache, then the rest of the group runs over that tile.
#include <numeric>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/tile/kernel.h"

using namespace mlir;

namespace burin {

namespace {

int64_t product(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
}

// One product over the collapsed space (outer..., row, column).
struct Factor {
  ProductOp op;
  Stored left, panels;
  SmallVector<int64_t> leftStrides;  // outer..., row; the stride along the depth is apart
  SmallVector<int64_t> panelStrides; // outer..., row (0)
  int64_t depth, depthStride;
};

// Strides of the leading dimensions of an operand over those of the space; fewer of them are repeated.
SmallVector<int64_t> leadingStrides(const Strided &where, size_t own, ArrayRef<int64_t> space) {
  Strided leading{SmallVector<int64_t>(where.sizes.begin(), where.sizes.begin() + own),
                  SmallVector<int64_t>(where.strides.begin(), where.strides.begin() + own), 0};
  return stridesOver(leading, space);
}

struct Shape2 {
  int64_t rowStep, columnStep;
};

// Rows: as many as let the left side's block stay in a quarter of the second cache, so that it is read from memory once
// for all panels. Columns: all of them where later work needs whole rows; else few enough for the tiles to stay in
// cache and for every thread to find work.
Shape2 chooseTile(TargetAttr target, int64_t outer, int64_t rows, int64_t columns, int64_t depth, int64_t products,
                  bool wholeRows, int64_t width) {
  constexpr int64_t fewestCells = 16, mostRows = 64, unit = 8;
  int64_t quarter = target.getL2() / 4;
  Shape2 tile;
  tile.rowStep = std::clamp(quarter / (4 * depth) / unit * unit, unit, mostRows);
  tile.columnStep = columns;
  if (wholeRows) {
    while (tile.rowStep > unit && tile.rowStep * columns * 4 * products > 2 * quarter)
      tile.rowStep -= unit;
  } else {
    int64_t fits = std::max<int64_t>(quarter / (tile.rowStep * 4 * products) / width * width, width);
    tile.columnStep = std::min(columns, fits);
    auto cells = [&] {
      return outer * llvm::divideCeil(rows, tile.rowStep) * llvm::divideCeil(columns, tile.columnStep);
    };
    while (cells() < fewestCells && tile.columnStep > width)
      tile.columnStep = std::max(llvm::alignTo(tile.columnStep / 2, width), (uint64_t)width);
    while (cells() < fewestCells && tile.rowStep > unit)
      tile.rowStep -= unit;
  }
  tile.rowStep = std::min(tile.rowStep, rows);
  return tile;
}

Value panelOf(TileBuilder &t, Value column, int64_t width) {
  // Blocks of columns start at whole panels.
  if (auto fixed = getConstantIntValue(column))
    return t.index(*fixed / width);
  return arith::DivUIOp::create(t.b, t.loc, column, t.index(width));
}

} // namespace

Work contractionWork(const GroupBody &body, TileBuilder &t) {
  auto factors = std::make_shared<std::vector<Factor>>();
  SmallVector<int64_t> space;
  bool wholeRows = false;
  int64_t deepest = 1;
  for (Operation *op : body.ops) {
    wholeRows |= isa<Reduction>(op);
    auto factor = dyn_cast<ProductOp>(op);
    if (!factor)
      continue;
    auto shape = cast<RankedTensorType>(factor.getC().getType()).getShape();
    space.assign(shape.begin(), shape.end());
    Factor f{factor, body.read.lookup(factor.getA()), body.read.lookup(factor.getPanels()), {}, {}, 0, 0};
    size_t rank = f.left.where.sizes.size();
    size_t row = rank - (factor.getTransposed() ? 1 : 2), depth = rank - (factor.getTransposed() ? 2 : 1);
    f.depth = f.left.where.sizes[depth];
    f.depthStride = f.left.where.strides[depth];
    ArrayRef<int64_t> leading = ArrayRef<int64_t>(space).drop_back(2);
    f.leftStrides = leadingStrides(f.left.where, rank - 2, leading);
    f.leftStrides.push_back(space[space.size() - 2] == 1 ? 0 : f.left.where.strides[row]);
    f.panelStrides = leadingStrides(f.panels.where, f.panels.where.sizes.size() - 3, leading);
    f.panelStrides.push_back(0);
    deepest = std::max(deepest, f.depth);
    factors->push_back(f);
  }
  auto fields = std::make_shared<Fields>(body, space);

  // Rows of different batches are rows like any others where both sides allow it.
  SmallVector<SmallVector<int64_t> *> lists = fields->strides();
  for (Factor &f : *factors) {
    // As long as the space, so that all lists collapse alike; the column's stride is not looked at.
    f.leftStrides.push_back(0);
    f.panelStrides.push_back(0);
    lists.append({&f.leftStrides, &f.panelStrides});
  }
  SmallVector<int64_t> sizes = space;
  // A single row must not make way for batches that have right sides of their own.
  bool ownRightSides = llvm::any_of(*factors, [](const Factor &f) {
    return llvm::any_of(f.panelStrides, [](int64_t stride) { return stride != 0; });
  });
  int64_t leading = collapse(sizes, lists, sizes.size() - 1, /*keepLast=*/ownRightSides);
  int64_t rows = sizes[leading - 1], columns = sizes[leading], width = t.panelWidth();
  int64_t outer = product(ArrayRef<int64_t>(sizes).take_front(leading - 1));
  Shape2 step = chooseTile(t.target, outer, rows, columns, deepest, factors->size(), wholeRows, width);
  SmallVector<int64_t> grid(sizes.begin(), sizes.begin() + leading - 1);
  grid.push_back(llvm::divideCeil(rows, step.rowStep));
  grid.push_back(llvm::divideCeil(columns, step.columnStep));

  return {
      product(grid), [=, &t, &body](Value cell) {
        SmallVector<Value> at = delinearise(t, cell, grid);
        withBlock(t, at[leading - 1], rows, step.rowStep, [&](Value row, int64_t rowCount) {
          withBlock(t, at[leading], columns, step.columnStep, [&](Value column, int64_t columnCount) {
            SmallVector<Value> start(at.begin(), at.end());
            start[leading - 1] = row;
            start[leading] = column;
            TileOf in, out;
            fields->tiles(t, start, rowCount, columnCount, in, out);
            for (Factor &f : *factors) {
              Value c = f.op.getC();
              bool direct = out.count(c) && llvm::any_of(fields->written, [&](const Field &field) {
                              return field.value == c && (field.strides.back() == 1 || columns == 1);
                            });
              Value tile = direct ? out.lookup(c).tile : t.scratch({rowCount, columnCount}, t.b.getF32Type());
              in[c] = {tile, {0, 1}};

              SmallVector<Value> from(start.begin(), start.begin() + leading);
              from.push_back(t.index(0));
              SmallVector<int64_t> strides(f.leftStrides.begin(), f.leftStrides.begin() + leading),
                  extents(leading - 1, 0);
              strides.push_back(f.depthStride);
              if (strides[leading - 1] == 0)
                strides[leading - 1] = 1; // a single row
              extents.append({rowCount, f.depth});
              Stored left{f.left.base, {SmallVector<int64_t>(leading + 1, 1), strides, f.left.where.offset}};

              size_t batches = leading - 1;
              SmallVector<Value> panel(start.begin(), start.begin() + batches);
              panel.append({panelOf(t, column, width), t.index(0), t.index(0)});
              SmallVector<int64_t> panelStrides(f.panelStrides.begin(), f.panelStrides.begin() + batches),
                  panelSizes(batches, 0);
              panelStrides.append({f.depth * width, width, 1});
              panelSizes.append({(int64_t)llvm::divideCeil(columnCount, width), f.depth, width});
              Stored right{f.panels.base, {SmallVector<int64_t>(batches + 3, 1), panelStrides, f.panels.where.offset}};
              t.contract(tile, t.tile(left, from, extents), t.tile(right, panel, panelSizes), /*accumulate=*/false);
            }
            bool more =
                llvm::any_of(body.ops, [](Operation *op) { return !isa<ProductOp>(op); }) ||
                llvm::any_of(out, [&](auto &entry) { return in.lookup(entry.first).tile != entry.second.tile; });
            if (more)
              writeRows(t, body, rowCount, columnCount, column, in, out);
          });
        });
      }};
}

} // namespace burin
