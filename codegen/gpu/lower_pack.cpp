// burin.pack becomes copies by the threads of a block: a thread takes a few rows of one column of a panel, so that
// writes lie side by side along the panel and what it reads along the depth comes from the lines it has just fetched.
// Panels for warpgroups have the two rows of a pair one after the other (specialise.cpp); there it takes two columns.
#include "codegen/gpu/contract.h"
#include "codegen/gpu/gpu.h"
#include "codegen/gpu/tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace burin {

#define GEN_PASS_DEF_GPULOWERPACK
#include "codegen/gpu/passes.h.inc"

using namespace mlir;
using namespace gpu;

namespace {

LogicalResult lower(OpBuilder &b, PackOp op) {
  Tile source = resolveTile(b, op.getLoc(), op.getSource()), panels = resolveTile(b, op.getLoc(), op.getPanels());
  if (!source.base || !panels.base)
    return failure();
  Emitter e{b, op.getLoc()};
  if (std::max({source.span(), panels.span(), panels.sizes[0] * panels.sizes[1] * panels.sizes[2]}) >
      std::numeric_limits<int32_t>::max() / 4)
    e.number = b.getI64Type();
  const int64_t k = source.sizes[0], n = source.sizes[1], pair = panels.element.isBF16() ? 2 : 1,
                width = panels.sizes[2] / pair, depth = panels.sizes[1];
  // Rows of a panel that a thread takes at a time.
  const int64_t rows = source.strides[0] == 1 && source.strides[1] != 1 ? 4 / pair : 1,
                blocks = llvm::divideCeil(depth, rows);
  const bool inRows = op->hasAttr(inRowsName);
  const int64_t across = inRows ? 2 : 1; // columns of a thread
  const Type element = source.element;
  Value zero = e.zeroOf(element);

  e.shareOut(panels.sizes[0] * blocks * (width / across), [&](Value number) {
    SmallVector<Value> at = e.digits(number, {panels.sizes[0], blocks, width / across});
    Value within = e.mul(at[2], across); // the panel
    Value firstColumn = e.add(e.mul(at[0], width), within), firstRow = e.mul(at[1], rows);
    const int64_t run = 4 * source.elementBytes(); // bytes of neighbours along the depth
    const bool inRuns = rows * pair == 4 && source.alignment % run == 0 && source.strides[1] % 4 == 0;
    Value to = e.at(panels.base, panels.element,
                    e.add(e.add(e.mul(at[0], depth * width * pair), e.mul(firstRow, width * pair)),
                          e.mul(within, inRows ? 1 : pair)));
    const int64_t count = rows * pair;
    SmallVector<SmallVector<Value>> values; // by column
    for (int64_t c = 0; c < across; ++c) {
      Value column = e.add(firstColumn, c);
      Value inside = n % width == 0 ? Value() : e.less(column, n);
      Value from = e.at(source.base, source.element,
                        e.add(e.mul(e.mul(firstRow, pair), source.strides[0]), e.mul(column, source.strides[1])));
      // Neighbours along the depth are one access.
      if (k % count == 0 && inRuns) {
        values.push_back(
            e.when(inside, SmallVector<Value>(count, zero), [&] { return e.loadRun(element, from, count, run); }));
        continue;
      }
      SmallVector<Value> &ofColumn = values.emplace_back();
      for (int64_t i = 0; i < count; ++i) {
        Value here = k % count == 0 ? inside : e.both(inside, e.less(e.add(e.mul(firstRow, pair), i), k));
        ofColumn.push_back(e.when(here, zero, [&] {
          return SmallVector<Value>{e.load(element, e.at(from, element, i * source.strides[0]))};
        })[0]);
      }
    }
    auto rounded = [&](Value value) -> Value {
      return value.getType() == panels.element
                 ? value
                 : arith::TruncFOp::create(b, op.getLoc(), panels.element, value).getResult();
    };
    for (int64_t row = 0; row < rows; ++row) {
      Value reached = depth % rows == 0 ? Value() : e.less(e.add(firstRow, row), depth);
      e.when(reached, [&] {
        if (inRows) {
          for (int64_t i = 0; i < pair; ++i)
            e.storeRun({rounded(values[0][row * pair + i]), rounded(values[1][row * pair + i])},
                       e.at(to, panels.element, (row * pair + i) * width), panels.alignment);
          return;
        }
        SmallVector<Value> results;
        for (int64_t i = 0; i < pair; ++i)
          results.push_back(rounded(values[0][row * pair + i]));
        e.storeRun(results, e.at(to, panels.element, row * width * pair), panels.alignment);
      });
    }
  });
  return success();
}

struct LowerPack : impl::GpuLowerPackBase<LowerPack> {
  void runOnOperation() override {
    if (!isKernel(getOperation()))
      return;
    SmallVector<PackOp> packs;
    getOperation().walk([&](PackOp pack) { packs.push_back(pack); });
    for (PackOp pack : packs) {
      OpBuilder b(pack);
      if (failed(lower(b, pack)))
        return signalPassFailure();
      pack.erase();
    }
  }
};

} // namespace
} // namespace burin
