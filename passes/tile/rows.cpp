// Element-wise ops, row reductions and permutations over a tile: one loop nest per level, a level being what lies
// between two that need whole rows. Cheap values are computed again in a later nest, expensive ones are stashed in
// scratch, values that go to memory anyway are read back from there.
#include <numeric>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/ir/constant.h"
#include "passes/tile/kernel.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace burin {

namespace {

class RowWriter {
public:
  RowWriter(TileBuilder &t, const GroupBody &body, int64_t rows, int64_t columns, Value firstColumn,
            const TileOf &inputs, const TileOf &outputs)
      : t(t), body(body), rows(rows), columns(columns), firstColumn(firstColumn), known(inputs), outputs(outputs) {}

  void write() {
    sortIntoLevels();
    for (int level = 0; level <= last; ++level) {
      writeStatistics(level);
      writeRow(level);
    }
  }

private:
  static Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

  // A value of the body that is computed here from others, rather than lying in memory or scratch.
  bool computed(Value value) const { return level.count(value); }

  void sortIntoLevels() {
    for (Operation *op : body.ops) {
      Value result = op->getResult(0);
      if (known.count(result) || isa<PackPanelsOp>(op))
        continue; // a product: its tile is there
      int at = 0;
      bool perRow = op->getNumOperands() > 0;
      for (Value operand : op->getOperands()) {
        if (auto found = level.find(operand); found != level.end())
          at = std::max(at, found->second);
        perRow &= statistics.contains(operand) || isConstant(operand) || isPerRow(operand);
      }
      if (isa<Reduction>(op)) {
        reductions[at].push_back(op);
        level[result] = at + 1;
        statistics.insert(result);
      } else if (isa<RowPermuting>(op)) {
        permutations[at].push_back(op);
        level[result] = at + 1;
      } else {
        level[result] = at;
        if (perRow && !isWhole(result))
          statistics.insert(result);
      }
      last = std::max(last, level[result]);
    }
  }

  // Memory with one element a row (or one at all).
  bool isPerRow(Value value) const {
    auto found = known.find(value);
    return found != known.end() && !llvm::is_contained(found->second.loops, 1);
  }

  // As wide as the row: its last dimension is the row's, where the row is longer than one element.
  bool isWhole(Value value) const {
    auto shape = cast<RankedTensorType>(value.getType()).getShape();
    return columns > 1 && !shape.empty() && shape.back() != 1;
  }

  // ---- values of one element a row

  void writeStatistics(int at) {
    llvm::SetVector<Value> targets;
    for (auto [value, valueLevel] : level) {
      if (valueLevel != at || !statistics.contains(value) || isa<Reduction>(value.getDefiningOp()))
        continue;
      bool elsewhere = llvm::any_of(value.getUsers(), [&](Operation *user) {
        return user->getNumResults() == 1 && level.count(user->getResult(0)) &&
               (!statistics.contains(user->getResult(0)) || level.lookup(user->getResult(0)) != at ||
                isa<Reduction>(user));
      });
      if (elsewhere || outputs.count(value))
        targets.insert(value);
    }
    SmallVector<Value> sources; // one for each nest output
    SmallVector<Access> out;
    for (Value value : targets) {
      Access kept{t.scratch({rows}, elementOf(value)), {0}};
      sources.push_back(value);
      out.push_back(kept);
      if (auto memory = outputs.find(value); memory != outputs.end()) {
        sources.push_back(value);
        out.push_back(perRowOnly(memory->second));
      }
    }
    // Reductions of the level before this one are complete: those that go to memory are copied there.
    for (auto [value, valueLevel] : level)
      if (valueLevel == at && isa<Reduction>(value.getDefiningOp()))
        if (auto memory = outputs.find(value); memory != outputs.end()) {
          sources.push_back(value);
          out.push_back(perRowOnly(memory->second));
        }
    if (!out.empty())
      writeNest(1, at, sources, out);
    for (auto [source, access] : llvm::zip_equal(sources, out))
      if (targets.contains(source) && !known.count(source))
        known[source] = access;
  }

  // An access of (rows, columns) as one of (rows): only one column is left to drop where there is one.
  Access perRowOnly(Access access) {
    if (!llvm::is_contained(access.loops, 1))
      return access;
    if (access.loops.size() == 2)
      return {t.part(access.tile, {t.index(0), t.index(0)}, {rows, 0}), {0}};
    return {t.part(access.tile, {t.index(0)}, {0}), {}};
  }

  // ---- values as wide as the row

  void writeRow(int at) {
    SmallVector<Value> sources;
    SmallVector<Access> out;
    SmallVector<Value> stashed;
    for (auto [value, valueLevel] : level) {
      if (valueLevel != at || statistics.contains(value) || isa<RowPermuting>(value.getDefiningOp()))
        continue;
      if (auto memory = outputs.find(value); memory != outputs.end()) {
        sources.push_back(value);
        out.push_back(memory->second);
        if (isExact(value, memory->second)) {
          stashed.push_back(value);
          continue;
        }
      }
      if (isPermuted(value) || (usedLater(value, at) && cast<Elementwise>(value.getDefiningOp()).isExpensive())) {
        sources.push_back(value);
        out.push_back({t.scratch({rows, columns}, elementOf(value)), {0, 1}});
        stashed.push_back(value);
      }
    }
    if (at == 0)
      for (Operation *op : body.ops)
        if (auto memory = outputs.find(op->getResult(0));
            isa<ProductOp>(op) && memory != outputs.end() && known.lookup(memory->first).tile != memory->second.tile) {
          sources.push_back(memory->first); // could not be written to memory directly
          out.push_back(memory->second);
        }
    for (Operation *op : reductions.lookup(at)) {
      Access sum{t.scratch({rows}, elementOf(op->getResult(0))), {0}};
      t.fill(sum.tile, t.f32(cast<Reduction>(op).neutral()));
      known[op->getResult(0)] = sum;
      sources.push_back(op->getResult(0));
      out.push_back(sum);
    }
    for (Operation *op : permutations.lookup(at)) // what comes from memory but once a row or a column
      if (Value from = op->getOperand(0); !level.count(from) && known.lookup(from).loops.size() != 2) {
        sources.push_back(from);
        out.push_back({t.scratch({rows, columns}, elementOf(from)), {0, 1}});
        stashed.push_back(from);
      }
    if (!out.empty())
      writeNest(2, at, sources, out);
    for (auto [source, access] : llvm::zip_equal(sources, out))
      if (llvm::is_contained(stashed, source))
        known[source] = access;
    for (Operation *op : permutations.lookup(at)) {
      Value result = op->getResult(0);
      auto memory = outputs.find(result);
      Access moved =
          memory != outputs.end() ? memory->second : Access{t.scratch({rows, columns}, elementOf(result)), {0, 1}};
      cast<RowPermuting>(op).permuteRows(t, known.lookup(op->getOperand(0)).tile, moved.tile);
      known[result] = moved;
    }
  }

  // Whether a value can be read back from where it is written: it may have been rounded.
  static bool isExact(Value value, const Access &access) {
    return cast<MemRefType>(access.tile.getType()).getElementType() == elementOf(value);
  }

  static bool isPermuted(Value value) { return llvm::any_of(value.getUsers(), llvm::IsaPred<RowPermuting>); }

  bool usedLater(Value value, int at) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (user->getNumResults() != 1 || !level.count(user->getResult(0)))
        return false;
      int userLevel = level.lookup(user->getResult(0)) - (isa<Reduction, RowPermuting>(user) ? 1 : 0);
      return userLevel > at || usedLater(user->getResult(0), at);
    });
  }

  // ---- one nest

  // Collects what a value needs that is not computed on the spot.
  void leaves(Value value, bool perRow, llvm::SetVector<Value> &into) {
    if (isConstant(value))
      return;
    if (known.count(value)) {
      into.insert(value);
      return;
    }
    for (Value operand : value.getDefiningOp()->getOperands())
      leaves(operand, perRow, into);
  }

  // sources[i] is computed for out[i]; a reduction's source is its operand, joined to the sum so far.
  void writeNest(int64_t loops, int at, ArrayRef<Value> sources, ArrayRef<Access> out) {
    auto sums = [&](Value source) {
      return loops == 2 && source.getDefiningOp() && isa<Reduction>(source.getDefiningOp()) &&
             level.lookup(source) == at + 1;
    };
    llvm::SetVector<Value> needed;
    for (Value source : sources)
      leaves(sums(source) ? source.getDefiningOp()->getOperand(0) : source, loops == 1, needed);
    SmallVector<Access> in;
    for (Value value : needed)
      in.push_back(loops == 1 ? perRowOnly(known.lookup(value)) : known.lookup(value));
    // A loop needs an operand to say how long it is, even where nothing changes along it.
    int64_t extents[] = {rows, columns};
    for (int64_t loop = 0; loop < loops; ++loop) {
      auto covers = [&](const Access &access) { return llvm::is_contained(access.loops, loop); };
      if (llvm::none_of(in, covers) && llvm::none_of(out, covers))
        in.push_back({t.scratch({extents[loop]}, t.b.getF32Type()), {loop}});
    }
    t.nest(loops, in, out, [&](OpBuilder &b, Location loc, ValueRange scalars, ValueRange soFar) {
      DenseMap<Value, Value> values;
      for (auto [value, scalar] : llvm::zip_equal(needed, scalars.take_front(needed.size())))
        values[value] = scalar;
      Value laneValue;
      auto lane = [&]() -> Value {
        if (!laneValue) {
          laneValue = linalg::IndexOp::create(b, loc, loops - 1);
          if (loops == 1)
            laneValue = arith::ConstantIndexOp::create(b, loc, 0);
          else if (getConstantIntValue(firstColumn) != std::optional<int64_t>(0))
            laneValue = arith::AddIOp::create(b, loc, laneValue, firstColumn);
        }
        return laneValue;
      };
      std::function<Value(Value)> evaluate = [&](Value value) -> Value {
        if (auto found = values.find(value); found != values.end())
          return found->second;
        Operation *op = value.getDefiningOp();
        SmallVector<Value> operands;
        for (Value operand : op->getOperands())
          operands.push_back(evaluate(operand));
        Value result = cast<Elementwise>(op).scalar(b, loc, operands, lane);
        values[value] = result;
        return result;
      };
      SmallVector<Value> results;
      for (auto [i, source] : llvm::enumerate(sources)) {
        if (sums(source)) {
          Operation *op = source.getDefiningOp();
          results.push_back(cast<Reduction>(op).combine(b, loc, soFar[i], evaluate(op->getOperand(0))));
        } else {
          results.push_back(evaluate(source));
        }
      }
      return results;
    });
  }

  TileBuilder &t;
  const GroupBody &body;
  int64_t rows, columns;
  Value firstColumn;
  TileOf known;
  const TileOf &outputs;
  llvm::MapVector<Value, int> level;
  // By the level at which their operand is computed.
  DenseMap<int, SmallVector<Operation *>> reductions, permutations;
  llvm::DenseSet<Value> statistics;
  int last = 0;
};

} // namespace

void writeRows(TileBuilder &t, const GroupBody &body, int64_t rows, int64_t columns, Value firstColumn,
               const TileOf &inputs, const TileOf &outputs) {
  RowWriter(t, body, rows, columns, firstColumn, inputs, outputs).write();
}

Access inputTile(TileBuilder &t, const Stored &stored, ArrayRef<int64_t> strides, ArrayRef<Value> start, int64_t rows,
                 int64_t columns) {
  // Only the dimensions along which the tensor changes are loops of the tile; a repeated element is read once.
  int64_t rank = strides.size();
  SmallVector<int64_t> sizes(rank, 0), loops;
  if (strides[rank - 2] != 0) {
    sizes[rank - 2] = rows;
    loops.push_back(0);
  }
  if (strides[rank - 1] != 0) {
    sizes[rank - 1] = columns;
    loops.push_back(1);
  }
  Stored over{stored.base, {SmallVector<int64_t>(rank, 1), SmallVector<int64_t>(strides), stored.where.offset}};
  return {t.tile(over, start, sizes), loops};
}

Access outputTile(TileBuilder &t, Value value, const Stored &stored, ArrayRef<int64_t> strides, ArrayRef<Value> start,
                  int64_t rows, int64_t columns) {
  int64_t rank = strides.size();
  SmallVector<int64_t> sizes(rank, 0), steps(strides), loops{0};
  // A dimension of one element has no stride of its own; any will do.
  for (int64_t &step : steps)
    step = std::max<int64_t>(step, 1);
  sizes[rank - 2] = rows;
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  if (columns == 1 || (!shape.empty() && shape.back() != 1)) {
    sizes[rank - 1] = columns;
    loops.push_back(1);
  } else {
    steps[rank - 1] = 0;
  }
  Stored over{stored.base, {SmallVector<int64_t>(rank, 1), steps, stored.where.offset}};
  return {t.tile(over, start, sizes), loops};
}

Work rowsWork(const GroupBody &body, TileBuilder &t) {
  // The space is that of the widest value: any whole row, or the operand of a reduction.
  SmallVector<int64_t> space;
  bool reduces = false, statistics = false;
  for (Operation *op : body.ops) {
    Value over = isa<Reduction>(op) ? op->getOperand(0) : op->getResult(0);
    auto shape = cast<RankedTensorType>(over.getType()).getShape();
    reduces |= isa<Reduction, RowPermuting>(op);
    int64_t size = std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
    int64_t most = std::accumulate(space.begin(), space.end(), int64_t(1), std::multiplies<>());
    statistics |= !space.empty() && size != most;
    if (space.empty() || size > most)
      space.assign(shape.begin(), shape.end());
  }
  while (space.size() < 2)
    space.insert(space.begin(), 1);

  auto fields = std::make_shared<Fields>(body, space);
  SmallVector<int64_t> sizes = space;
  int64_t leading = collapse(sizes, fields->strides(), sizes.size() - 1);
  int64_t rows = sizes[leading - 1], columns = sizes[leading];

  // A tile of all operands stays in half of the first cache; rows that need not be whole are cut.
  int64_t count = fields->read.size() + fields->written.size();
  constexpr int64_t longRow = 4096;
  int64_t columnStep = reduces || statistics ? columns : std::min(columns, longRow);
  int64_t rowStep = std::clamp<int64_t>(t.target.getL1() / 2 / (4 * columnStep * count), 1, rows);
  // Enough cells for several threads, also where all of the work fits into one cache.
  const int64_t fewestCells = t.target.getCells();
  int64_t outer = std::accumulate(sizes.begin(), sizes.begin() + leading - 1, int64_t(1), std::multiplies<>());
  rowStep = std::min<int64_t>(rowStep, llvm::divideCeil(rows, llvm::divideCeil(fewestCells, outer)));
  SmallVector<int64_t> grid(sizes.begin(), sizes.begin() + leading - 1);
  grid.push_back(llvm::divideCeil(rows, rowStep));
  grid.push_back(llvm::divideCeil(columns, columnStep));
  int64_t cells = std::accumulate(grid.begin(), grid.end(), int64_t(1), std::multiplies<>());
  return {cells, [=, &t, &body](Value cell) {
            SmallVector<Value> at = delinearise(t, cell, grid);
            t.oneTile(at[leading - 1], rows, rowStep, [&](Value row, int64_t rowCount) {
              t.oneTile(at[leading], columns, columnStep, [&](Value column, int64_t columnCount) {
                SmallVector<Value> start(at.begin(), at.end());
                start[leading - 1] = row;
                start[leading] = column;
                TileOf in, out;
                fields->tiles(t, start, rowCount, columnCount, in, out);
                writeRows(t, body, rowCount, columnCount, column, in, out);
              });
            });
          }};
}

} // namespace burin
