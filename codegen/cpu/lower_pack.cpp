// burin.pack becomes copies of rows where the source is contiguous along them, and transposes of squares in registers
// where it is contiguous along the depth. Columns beyond the source are zeros. In bf16 rows are rounded and interleaved
// two by two; where the source is contiguous along the depth, pairs lie side by side and are transposed as wholes.
#include "codegen/cpu/cpu.h"
#include "codegen/cpu/tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace burin {

#define GEN_PASS_DEF_CPULOWERPACK
#include "codegen/cpu/passes.h.inc"

using namespace mlir;
using namespace cpu;

namespace {

class Pack {
public:
  Pack(OpBuilder &b, PackOp op, TargetAttr target) : b(b), e{b, op.getLoc()}, op(op), target(target) {}

  LogicalResult lower() {
    source = resolveTile(b, e.loc, op.getSource());
    panels = resolveTile(b, e.loc, op.getPanels());
    if (!source.flat || !panels.flat)
      return failure();
    k = source.sizes[0];
    n = source.sizes[1];
    pair = panels.element.isBF16() ? 2 : 1;
    width = panels.sizes[2] / pair;
    int64_t full = n / width;
    e.loop(full, 1, {}, [&](Value panel, ValueRange) {
      emitPanel(panel, width);
      return SmallVector<Value>{};
    });
    if (n > full * width)
      emitPanel(e.index(full), n - full * width);
    return success();
  }

private:
  OpBuilder &b;
  Emitter e;
  PackOp op;
  TargetAttr target;
  Tile source, panels;
  int64_t k = 0, n = 0, width = 0;
  bool transposing = false;
  // How far ahead reading is fetched: enough for memory's latency, near enough to be there still.
  static constexpr int64_t rowsAhead = 24, squaresAhead = 2;
  int64_t pair = 1; // rows of the source in a row of a panel

  // Depth goes by squares of lanes when transposing, row by row otherwise.
  void emitPanel(Value panel, int64_t columns) {
    int64_t lanes = target.getLanes();
    transposing = source.strides[0] == 1 && source.strides[1] != 1 && k > 1 && columns > 1;
    Value from = e.add(source.offset, e.mul(e.mul(panel, width), source.strides[1]));
    Value to = e.add(panels.offset, e.mul(panel, panels.sizes[1] * panels.sizes[2]));
    // Where rows end up in pairs, an even number of them starts at depth * width all the same.
    int64_t step = transposing ? lanes * pair : pair, whole = k / step * step;
    e.loop(whole, step, {}, [&](Value depth, ValueRange) {
      emitRows(e.add(from, e.mul(depth, source.strides[0])), e.add(to, e.mul(depth, width)), step, columns);
      return SmallVector<Value>{};
    });
    if (k > whole)
      emitRows(e.add(from, whole * source.strides[0]), e.add(to, whole * width), k - whole, columns);
  }

  // `rows` of the depth, all columns of the panel.
  void emitRows(Value from, Value to, int64_t rows, int64_t columns) {
    int64_t lanes = target.getLanes();
    for (int64_t column = 0; column < width; column += lanes) {
      int64_t written = std::min(lanes, width - column), active = std::clamp<int64_t>(columns - column, 0, lanes);
      Value zero = e.splat(VectorType::get({lanes}, source.element), 0);
      if (transposing && pair == 2) {
        emitPairs(from, to, rows, column, active, written);
        continue;
      }
      SmallVector<Value> vectors(rows, zero);
      if (active > 0 && transposing) {
        fetch(e.add(from, column * source.strides[1]), squaresAhead * rows, active, source.strides[1]);
        SmallVector<Value> square(lanes, zero);
        for (int64_t j = 0; j < active; ++j)
          square[j] = e.load(source.flat, e.add(from, (column + j) * source.strides[1]), 1, lanes, rows);
        vectors = e.transpose(square);
      } else if (active > 0) {
        fetch(e.add(from, column * source.strides[1]), rowsAhead * source.strides[0], rows, source.strides[0]);
        for (int64_t i = 0; i < rows; ++i)
          vectors[i] = loadRow(e.add(from, i * source.strides[0]), column, active, zero);
      }
      if (pair == 1) {
        for (int64_t i = 0; i < rows; ++i)
          e.store(vectors[i], panels.flat, e.add(to, i * width + column), 1, written);
        continue;
      }
      for (int64_t i = 0; i < rows; i += 2) {
        Value two =
            vector::InterleaveOp::create(b, e.loc, rounded(vectors[i]), rounded(i + 1 < rows ? vectors[i + 1] : zero));
        e.store(two, panels.flat, e.add(to, i * width + 2 * column), 1, 2 * written);
      }
    }
  }

  // A vector of the source in the panels' type.
  Value rounded(Value vector) {
    auto type = cast<VectorType>(vector.getType()).clone(panels.element);
    return vector.getType() == type ? vector : arith::TruncFOp::create(b, e.loc, type, vector).getResult();
  }

  // Brings `count` elements that lie `stride` apart near, which are read in a while: rows are too short for a machine
  // to see where the next one lies.
  void fetch(Value from, int64_t ahead, int64_t count, int64_t stride) {
    for (int64_t i = 0; i < count; ++i)
      memref::PrefetchOp::create(b, e.loc, source.flat, ValueRange{e.add(from, ahead + i * stride)}, /*isWrite=*/false,
                                 /*locality=*/2, /*isDataCache=*/true);
  }

  // Up to two vectors of the depth, `active` columns of one: what lies side by side is rounded first, so that a square
  // of pairs is half as much to transpose.
  void emitPairs(Value from, Value to, int64_t rows, int64_t column, int64_t active, int64_t written) {
    const int64_t lanes = target.getLanes();
    auto pairs = VectorType::get({lanes}, b.getI32Type()), elements = VectorType::get({2 * lanes}, panels.element);
    SmallVector<Value> square(lanes, e.splat(pairs, 0));
    for (int64_t j = 0; j < active; ++j) {
      Value at = e.add(from, (column + j) * source.strides[1]);
      Value low = e.load(source.flat, at, 1, lanes, std::min(rows, lanes));
      Value high = rows > lanes ? e.load(source.flat, e.add(at, lanes), 1, lanes, rows - lanes)
                                : e.splat(VectorType::get({lanes}, source.element), 0);
      Value both = vector::ShuffleOp::create(b, e.loc, low, high, llvm::to_vector(llvm::seq<int64_t>(0, 2 * lanes)));
      square[j] = vector::BitCastOp::create(b, e.loc, pairs, rounded(both));
    }
    square = e.transpose(square);
    for (int64_t i = 0; i < rows; i += 2)
      e.store(vector::BitCastOp::create(b, e.loc, elements, square[i / 2]), panels.flat,
              e.add(to, i * width + 2 * column), 1, 2 * written);
  }

  // One row of the source: `active` columns from `column` on, zeros beyond.
  Value loadRow(Value from, int64_t column, int64_t active, Value zero) {
    Value row =
        e.load(source.flat, e.add(from, column * source.strides[1]), source.strides[1], target.getLanes(), active);
    if (isa<VectorType>(row.getType()))
      return row;
    // A repeated column comes as one scalar; lanes beyond the last column stay 0.
    Value repeated = row;
    row = zero;
    for (int64_t j = 0; j < active; ++j)
      row = vector::InsertOp::create(e.b, e.loc, repeated, row, j);
    return row;
  }
};

struct LowerPack : impl::CpuLowerPackBase<LowerPack> {
  void runOnOperation() override {
    TargetAttr target = kernelTarget(getOperation());
    if (!target) {
      if (getOperation()->hasAttr("burin.kernel"))
        signalPassFailure();
      return;
    }
    SmallVector<PackOp> packs;
    getOperation().walk([&](PackOp pack) { packs.push_back(pack); });
    for (PackOp pack : packs) {
      OpBuilder b(pack);
      if (failed(Pack(b, pack, target).lower()))
        return signalPassFailure();
      pack.erase();
    }
  }
};

} // namespace
} // namespace burin
