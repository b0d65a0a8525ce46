// Products with everything that follows them row by row: a cell is a block of rows times a block of columns; each
// product goes into a tile that stays in cache, then the rest of the group runs over that tile.
#include <numeric>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/ir/constant.h"
#include "passes/ir/view.h"
#include "passes/tile/kernel.h"

using namespace mlir;

namespace burin {

namespace {

// One product over the collapsed space (outer..., row, column).
struct Factor {
  ProductOp op;
  Stored left;
  Stored panels; // or, with `packs`, the matrix (depth, columns) whose pieces each cell packs for itself
  bool packs;
  SmallVector<int64_t> leftStrides;  // outer..., row; the stride along the depth is apart
  SmallVector<int64_t> panelStrides; // outer..., row (0)
  int64_t depth, depthStride;
  bool inBf16;

  // Rows and columns of a panel as it lies in memory.
  int64_t panelRows() const { return inBf16 ? (depth + 1) / 2 : depth; }
  int64_t panelColumns(int64_t width) const { return inBf16 ? 2 * width : width; }
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

// Blocks of rows have a multiple of it, but for the last one.
constexpr int64_t rowUnit = 8;

// The depth is taken in slices, so that a panel's part of one fills no more than a quarter of the second cache and is
// still there for the next rows.
int64_t sliceOf(TargetAttr target, int64_t depth, int64_t width) {
  const int64_t slices = llvm::divideCeil(depth * width * sizeof(float), target.getL2() / 4);
  return llvm::divideCeil(depth, slices);
}

// Where cells pack pieces of the right side: as many rows as let the products stay in the second cache beside a piece,
// all of them where that is possible, since each block of rows packs again; and few columns.
Shape2 choosePackingTile(TargetAttr target, int64_t outer, int64_t rows, int64_t columns, int64_t products,
                         int64_t unit) {
  constexpr int64_t mostRows = 512, fewRows = 64;
  const int64_t fewestCells = target.getCells();
  Shape2 tile{std::min(rows, std::max(fewRows, mostRows / products)),
              std::min<int64_t>(columns, llvm::alignTo(4 * target.getPanelWidth(), unit))};
  auto few = [&] {
    return int64_t(outer * llvm::divideCeil(rows, tile.rowStep) * llvm::divideCeil(columns, tile.columnStep)) <
           fewestCells;
  };
  while (few() && tile.columnStep > unit)
    tile.columnStep = llvm::alignTo(tile.columnStep / 2, unit);
  while (few() && tile.rowStep > fewRows)
    tile.rowStep = std::max(fewRows, tile.rowStep / 2);
  return tile;
}

// Rows: as many as let a slice of the left side stay in a quarter of the second cache, so that it is read from memory
// once for all panels. Columns: all of them where later work needs whole rows; else few enough for the tiles to stay in
// cache. Both shrink until threads that are not equally fast can share the cells out evenly: the rows, but not far,
// where the right side fits into the second cache and is as well read by small blocks; else the columns. Blocks of
// columns are whole units: panels, and pieces of rows.
Shape2 chooseTile(TargetAttr target, int64_t outer, int64_t rows, int64_t columns, int64_t depth, int64_t products,
                  bool wholeRows, int64_t unit) {
  const int64_t width = target.getPanelWidth();
  constexpr int64_t mostRows = 64, fewRows = 32;
  const int64_t quarter = target.getL2() / 4, fewestCells = target.getCells(), evenCells = 4 * fewestCells;
  Shape2 tile;
  tile.rowStep = std::clamp(quarter / (4 * sliceOf(target, depth, width)) / rowUnit * rowUnit, rowUnit, mostRows);
  tile.columnStep = columns;
  auto cells = [&] {
    return int64_t(outer * llvm::divideCeil(rows, tile.rowStep) * llvm::divideCeil(columns, tile.columnStep));
  };
  auto shrinkRows = [&](int64_t enough, int64_t fewest) {
    while (cells() < enough && tile.rowStep > fewest)
      tile.rowStep -= rowUnit;
  };
  auto shrinkColumns = [&](int64_t enough, int64_t fewest) {
    while (cells() < enough && tile.columnStep > fewest)
      tile.columnStep = std::max<int64_t>(llvm::alignTo(tile.columnStep / 2, unit), fewest);
  };
  if (wholeRows) {
    while (tile.rowStep > rowUnit && tile.rowStep * columns * 4 * products > 2 * quarter)
      tile.rowStep -= rowUnit;
    shrinkRows(evenCells, fewRows);
  } else {
    int64_t fits = std::max<int64_t>(quarter / (tile.rowStep * 4 * products) / unit * unit, unit);
    tile.columnStep = std::min(columns, fits);
    if (depth * columns * products * int64_t(sizeof(float)) > target.getL2())
      shrinkColumns(evenCells, llvm::alignTo(4 * width, unit));
    shrinkRows(evenCells, fewRows);
    shrinkColumns(fewestCells, unit);
  }
  shrinkRows(fewestCells, rowUnit);
  tile.rowStep = std::min(tile.rowStep, rows);
  return tile;
}

// A tile whose columns are adjacent instead of its rows, in a block of its own: read as it lies, each column would be
// another cache line, again for every panel.
Value inOneBlock(TileBuilder &t, Value tile) {
  auto shape = cast<MemRefType>(tile.getType()).getShape();
  Value block = t.scratch({shape[1], shape[0]}, t.b.getF32Type());
  t.copy(t.transposed(tile), block);
  return t.transposed(block);
}

// Whether a left side that lies in memory in bf16 is as contract takes it: whole pairs, side by side.
bool readsInPlace(TargetAttr target, const Factor &f, Value tile) {
  auto type = cast<MemRefType>(tile.getType());
  return target.readsLeftInPlace() && type.getElementType().isBF16() && f.depthStride == 1 &&
         type.getDimSize(1) % 2 == 0;
}

Value quotient(TileBuilder &t, Value index, int64_t by) {
  if (auto fixed = getConstantIntValue(index))
    return t.index(*fixed / by);
  return arith::DivUIOp::create(t.b, t.loc, index, t.index(by));
}

// The part of a body that sees pieces of the products' rows, heads say, each as a matrix: done piece by piece over a
// tile of products that has whole ones.
struct PieceWork {
  GroupBody body;
  std::vector<std::pair<Value, Value>> views; // what the ops read -> the product, or work on one, that it is a view of
  Pieces pieces;
  Fields fields;
};

std::shared_ptr<PieceWork> pieceWorkOf(const GroupBody &body) {
  llvm::DenseSet<Operation *> sees;
  std::vector<std::pair<Value, Value>> views;
  for (Operation *op : body.ops)
    for (Value operand : op->getOperands()) {
      auto *maker = operand.getDefiningOp();
      if (!maker || body.read.count(operand))
        continue;
      if (sees.contains(maker))
        sees.insert(op);
      const Value behind = lookThrough(operand).value;
      if (behind == operand || isConstant(behind))
        continue;
      sees.insert(op);
      if (!llvm::is_contained(views, std::pair(operand, behind)))
        views.emplace_back(operand, behind);
    }
  if (views.empty())
    return nullptr;
  Value view = views.front().first;
  GroupBody part = body.only([&](Operation *op) { return sees.contains(op); });
  Fields fields(part, cast<RankedTensorType>(view.getType()).getShape());
  // group/ has asked the same question before it let them in.
  return std::make_shared<PieceWork>(
      PieceWork{std::move(part), views, *piecesOf(lookThrough(view)), std::move(fields)});
}

// Does the work on pieces in a tile of products: `rows` of them from `at`, the index in each dimension of the space.
void writePieces(TileBuilder &t, const PieceWork &work, ArrayRef<Value> at, int64_t rows, int64_t columns,
                 const TileOf &products) {
  const int64_t size = work.pieces.size;
  t.forEach(t.index(0), t.index(columns / size), [&](Value piece) {
    t.withScratch([&] {
      SmallVector<Value> start;
      for (int64_t dim : work.pieces.leading)
        start.push_back(dim == Pieces::one      ? t.index(0)
                        : dim == Pieces::number ? t.add(quotient(t, at.back(), size), piece)
                                                : at[dim]);
      start.append({at[at.size() - 2], t.index(0)});
      TileOf in, out;
      work.fields.tiles(t, start, rows, size, in, out);
      for (auto [view, product] : work.views)
        in[view] = {t.part(products.lookup(product).tile, {t.index(0), t.mul(piece, size)}, {rows, size}), {0, 1}};
      writeRows(t, work.body, rows, size, t.index(0), in, out);
    });
  });
}

} // namespace

Work contractionWork(const GroupBody &all, TileBuilder &t) {
  auto pieceWork = pieceWorkOf(all);
  const GroupBody body =
      all.only([&](Operation *op) { return !pieceWork || !llvm::is_contained(pieceWork->body.ops, op); });
  auto factors = std::make_shared<std::vector<Factor>>();
  SmallVector<int64_t> space;
  bool wholeRows = false, packing = false;
  int64_t deepest = 1;
  for (Operation *op : body.ops) {
    wholeRows |= isa<Reduction, RowPermuting>(op);
    auto factor = dyn_cast<ProductOp>(op);
    if (!factor)
      continue;
    auto shape = cast<RankedTensorType>(factor.getC().getType()).getShape();
    space.assign(shape.begin(), shape.end());
    auto pack = factor.getPanels().getDefiningOp<PackPanelsOp>();
    Factor f{factor,
             body.read.lookup(factor.getA()),
             body.read.lookup(pack ? pack.getMatrix() : factor.getPanels()),
             bool(pack),
             {},
             {},
             0,
             0,
             cast<RankedTensorType>(factor.getPanels().getType()).getElementType().isBF16()};
    size_t batches = f.panels.where.sizes.size() - (pack ? 2 : 3);
    if (pack && pack.getTransposed()) {
      std::swap(f.panels.where.sizes[batches], f.panels.where.sizes[batches + 1]);
      std::swap(f.panels.where.strides[batches], f.panels.where.strides[batches + 1]);
    }
    packing |= f.packs;
    size_t rank = f.left.where.sizes.size();
    size_t row = rank - (factor.getTransposed() ? 1 : 2), depth = rank - (factor.getTransposed() ? 2 : 1);
    f.depth = f.left.where.sizes[depth];
    f.depthStride = f.left.where.strides[depth];
    ArrayRef<int64_t> leading = ArrayRef<int64_t>(space).drop_back(2);
    f.leftStrides = leadingStrides(f.left.where, rank - 2, leading);
    f.leftStrides.push_back(space[space.size() - 2] == 1 ? 0 : f.left.where.strides[row]);
    f.panelStrides = leadingStrides(f.panels.where, batches, leading);
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
  const int64_t dims = sizes.size();
  int64_t leading = pieceWork ? dims - 1 : collapse(sizes, lists, dims - 1, /*keepLast=*/ownRightSides);
  int64_t rows = sizes[leading - 1], columns = sizes[leading], width = t.target.getPanelWidth();
  int64_t outer = llvm::product_of(ArrayRef<int64_t>(sizes).take_front(leading - 1));
  const int64_t unit = pieceWork ? std::min(std::lcm(width, pieceWork->pieces.size), columns) : width;
  Shape2 step = packing ? choosePackingTile(t.target, outer, rows, columns, factors->size(), unit)
                        : chooseTile(t.target, outer, rows, columns, deepest, factors->size(), wholeRows, unit);
  // The rows of each batch are cut apart: not into 64 and 1.
  if (pieceWork)
    step.rowStep =
        std::min<int64_t>(rows, llvm::alignTo(llvm::divideCeil(rows, llvm::divideCeil(rows, step.rowStep)), rowUnit));
  SmallVector<int64_t> grid(sizes.begin(), sizes.begin() + leading - 1);
  grid.push_back(llvm::divideCeil(rows, step.rowStep));
  grid.push_back(llvm::divideCeil(columns, step.columnStep));

  return {llvm::product_of(grid), [=, &t](Value cell) {
            SmallVector<Value> at = delinearise(t, cell, grid);
            t.oneTile(at[leading - 1], rows, step.rowStep, [&](Value row, int64_t rowCount) {
              t.oneTile(at[leading], columns, step.columnStep, [&](Value column, int64_t columnCount) {
                SmallVector<Value> start(at.begin(), at.end());
                start[leading - 1] = row;
                start[leading] = column;
                TileOf in, out;
                fields->tiles(t, start, rowCount, columnCount, in, out);
                DenseMap<std::pair<Value, int>, Value> prepared; // left sides, where several products read one
                for (Factor &f : *factors) {
                  Value c = f.op.getC();
                  bool direct = llvm::any_of(fields->written, [&](const Field &field) {
                    return field.value == c && (field.strides.back() == 1 || columns == 1) &&
                           cast<MemRefType>(field.stored.base.getType()).getElementType().isF32();
                  });
                  Value tile = direct ? out.lookup(c).tile : t.scratch({rowCount, columnCount}, t.b.getF32Type());
                  in[c] = {tile, {0, 1}};

                  const size_t batches = leading - 1;
                  const int64_t pair = f.inBf16 ? 2 : 1, steps = f.panelRows(), panelColumns = f.panelColumns(width);
                  SmallVector<int64_t> strides(f.leftStrides.begin(), f.leftStrides.begin() + leading);
                  strides.push_back(f.depthStride);
                  if (strides[leading - 1] == 0)
                    strides[leading - 1] = 1; // a single row
                  Stored left{f.left.base, {SmallVector<int64_t>(leading + 1, 1), strides, f.left.where.offset}};
                  SmallVector<int64_t> panelStrides(f.panelStrides.begin(), f.panelStrides.begin() + batches);
                  if (f.packs)
                    panelStrides.append(f.panels.where.strides.end() - 2, f.panels.where.strides.end());
                  else
                    panelStrides.append({steps * panelColumns, panelColumns, 1});
                  Stored right{f.panels.base,
                               {SmallVector<int64_t>(panelStrides.size(), 1), panelStrides, f.panels.where.offset}};
                  const int64_t panels = llvm::divideCeil(columnCount, width);

                  // Steps [first, first + count) of the depth, a step being a row of the panels. The last slice ends
                  // where the depth does.
                  const int64_t slice = sliceOf(t.target, steps, f.packs ? panels * width : width);
                  const int64_t whole = (steps - 1) / slice;
                  auto depthOf = [&](int64_t count, bool isLast) {
                    return isLast ? f.depth - whole * slice * pair : count * pair;
                  };
                  auto leftTile = [&](Value firstRow, int64_t count, Value first, int64_t depth) {
                    SmallVector<Value> from(start.begin(), start.begin() + leading);
                    from[leading - 1] = firstRow;
                    from.push_back(t.mul(first, pair));
                    SmallVector<int64_t> extents(batches, 0);
                    extents.append({count, depth});
                    return t.tile(left, from, extents);
                  };
                  auto leftSide = [&](Value firstRow, int64_t count, Value first, int64_t depth) {
                    Value a = leftTile(t.add(row, firstRow), count, first, depth);
                    if (f.inBf16 && readsInPlace(t.target, f, a))
                      return a;
                    if (f.inBf16)
                      return t.inPairs(a);
                    return f.depthStride != 1 && columnCount > width ? inOneBlock(t, a) : a;
                  };
                  auto rightSide = [&](Value first, int64_t count, int64_t depth) {
                    SmallVector<Value> from(start.begin(), start.begin() + batches);
                    SmallVector<int64_t> sizes(batches, 0);
                    if (f.packs) {
                      Value piece = t.scratch({panels, count, panelColumns},
                                              f.inBf16 ? Type(t.b.getBF16Type()) : t.b.getF32Type());
                      from.append({t.mul(first, pair), column});
                      sizes.append({depth, columnCount});
                      t.pack(t.tile(right, from, sizes), piece);
                      return piece;
                    }
                    from.append({quotient(t, column, width), first, t.index(0)}); // blocks start at whole panels
                    sizes.append({panels, count, panelColumns});
                    return t.tile(right, from, sizes);
                  };
                  // Left sides that lie across are many short pieces of memory: what comes next is fetched meanwhile.
                  // After the last slice that is the first one of the next cell: of the rows below, when these have met
                  // all columns.
                  const int64_t lastDepth = depthOf(steps - whole * slice, /*isLast=*/true);
                  const bool fetches = f.left.where.strides.back() == 1 && f.depthStride != 1 && !f.packs;
                  auto nextSlice = [&](Value first) {
                    return fetches ? t.transposed(leftTile(row, rowCount, first, lastDepth)) : Value();
                  };
                  auto nextRows = [&]() -> Value {
                    if (!fetches || factors->size() > 1 || llvm::product_of(grid) == 1)
                      return {};
                    Value down =
                        arith::DivUIOp::create(t.b, t.loc, t.add(at[leading], t.index(1)), t.index(grid.back()));
                    Value next =
                        arith::MinUIOp::create(t.b, t.loc, t.add(row, t.mul(down, rowCount)), t.index(rows - rowCount));
                    return t.transposed(leftTile(next, rowCount, t.index(0), whole ? slice * pair : f.depth));
                  };
                  if (whole == 0 && !f.packs) {
                    Value &a = prepared[{f.op.getA(), int(f.op.getTransposed())}];
                    if (!a)
                      a = leftSide(t.index(0), rowCount, t.index(0), f.depth);
                    t.contract(tile, a, rightSide(t.index(0), steps, f.depth), /*accumulate=*/false, nextRows());
                    continue;
                  }
                  // A piece that was packed here meets the rows block by block, so that each block stays near.
                  const int64_t rowBlock = f.packs ? std::min<int64_t>(rowCount, 64) : rowCount;
                  auto take = [&](Value first, int64_t count, bool isLast, bool accumulate, Value ahead) {
                    t.withScratch([&] {
                      const int64_t depth = depthOf(count, isLast);
                      Value b = rightSide(first, count, depth);
                      t.forTiles(rowCount, rowBlock, [&](Value firstRow, int64_t size) {
                        t.withScratch([&] {
                          t.contract(t.part(tile, {firstRow, t.index(0)}, {size, columnCount}),
                                     leftSide(firstRow, size, first, depth), b, accumulate, ahead);
                        });
                      });
                    });
                  };
                  if (whole > 0)
                    take(t.index(0), slice, /*isLast=*/false, /*accumulate=*/false, nextSlice(t.index(slice)));
                  if (whole > 1)
                    t.forEach(t.index(1), t.index(whole), [&](Value number) {
                      take(t.mul(number, slice), slice, /*isLast=*/false, /*accumulate=*/true,
                           nextSlice(t.mul(t.add(number, t.index(1)), slice)));
                    });
                  take(t.index(whole * slice), steps - whole * slice, /*isLast=*/true, /*accumulate=*/whole > 0,
                       nextRows());
                }
                if (pieceWork)
                  for (auto [view, value] : pieceWork->views)
                    if (!in.count(value) && !out.count(value))
                      out[value] = {t.scratch({rowCount, columnCount}, t.b.getF32Type()), {0, 1}};
                bool more =
                    llvm::any_of(body.ops, [](Operation *op) { return !isa<ProductOp, PackPanelsOp>(op); }) ||
                    llvm::any_of(out, [&](auto &entry) { return in.lookup(entry.first).tile != entry.second.tile; });
                if (more)
                  writeRows(t, body, rowCount, columnCount, column, in, out);
                if (pieceWork) {
                  TileOf made = out;
                  for (Factor &f : *factors)
                    made[f.op.getC()] = in.lookup(f.op.getC());
                  writePieces(t, *pieceWork, start, rowCount, columnCount, made);
                }
              });
            });
          }};
}

} // namespace burin
