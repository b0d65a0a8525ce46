// burin.contract becomes register blocks: rows x vectors of c stay in registers while the depth runs by, each row of b
// multiplied by broadcast elements of a. A block takes three quarters of the registers; the rest hold the row of b and
// a broadcast. In bf16 a step takes a pair of the depth: one instruction where the CPU has it, else two multiply-adds
// on the pair's elements widened to f32.
#include "codegen/cpu/cpu.h"
#include "codegen/cpu/tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

namespace burin {

#define GEN_PASS_DEF_CPULOWERCONTRACT
#include "codegen/cpu/passes.h.inc"

using namespace mlir;
using namespace cpu;

namespace {

class Contract {
public:
  Contract(OpBuilder &b, ContractOp op, TargetAttr target) : b(b), e{b, op.getLoc()}, op(op), target(target) {}

  LogicalResult lower() {
    c = resolveTile(b, e.loc, op.getC());
    left = resolveTile(b, e.loc, op.getA());
    right = resolveTile(b, e.loc, op.getB());
    if (!c.flat || !left.flat || !right.flat)
      return failure();
    m = c.sizes[0];
    n = c.sizes[1];
    k = left.sizes[1];
    bool packed = right.sizes.size() == 3;
    pair = left.element.isBF16() ? 2 : 1;
    k /= pair;
    width = packed ? right.sizes[2] / pair : n;
    depthStride = packed ? right.sizes[2] : right.strides[0];
    panelStride = packed ? right.strides[0] : 0;
    lanes = target.getLanes();
    if (width < lanes || n < lanes)
      lanes = llvm::bit_ceil<uint64_t>(std::min(n, width));

    if (op.getAhead() && packed && width == target.getPanelVectors() * lanes) {
      ahead = resolveTile(b, e.loc, op.getAhead());
      if (!ahead.flat)
        return failure();
      const int64_t blocks = llvm::divideCeil(n, width) * blocksOf(target.getPanelVectors());
      aheadRows = llvm::divideCeil(ahead.sizes[0], blocks);
    }

    int64_t panels = n / width;
    e.loop(panels, 1, {}, [&](Value panel, ValueRange) {
      emitPanel(panel, width);
      return SmallVector<Value>{};
    });
    if (n > panels * width)
      emitPanel(e.index(panels), n - panels * width);
    return success();
  }

private:
  OpBuilder &b;
  Emitter e;
  ContractOp op;
  TargetAttr target;
  Tile c, left, right, ahead;
  int64_t aheadRows = 0;                    // of `ahead` that are fetched beside a block of c
  int64_t m = 0, n = 0, k = 0;              // k in steps: elements, or pairs of them in bf16
  int64_t pair = 1;                         // elements of a and of a row of b that a step takes
  int64_t width = 0;                        // columns of a panel of b; all of them where b is not packed
  int64_t depthStride = 0, panelStride = 0; // of b
  int64_t lanes = 1;

  // Rows of a block so many vectors wide. More than 12 bring nothing: that many sums in flight hide the latency of a
  // multiply-add.
  int64_t maxRows(int64_t vectors) const { return std::min<int64_t>(12, target.getRegisters() * 3 / 4 / vectors); }

  int64_t blocksOf(int64_t vectors) const { return llvm::divideCeil(m, maxRows(vectors)); }

  // One panel of b, of which `columns` count, in groups of vectors. Four vectors are two twos: three and a one would
  // starve for sums.
  void emitPanel(Value panel, int64_t columns) {
    int64_t vectors = llvm::divideCeil(columns, lanes), most = target.getPanelVectors();
    int64_t groups = vectors / most, rest = vectors % most;
    if (rest == 1 && groups > 0 && most > 2)
      --groups;
    int64_t uneven = vectors - groups * most;
    // Groups of full vectors go into the loop; one that ends inside a vector is masked and stands alone.
    if (uneven == 0 && columns % lanes != 0) {
      --groups;
      uneven = most;
    }
    Value start = e.mul(panel, width);
    Value base = e.add(right.offset, e.mul(panel, panelStride));
    e.loop(groups, 1, {}, [&](Value group, ValueRange) {
      emitColumns(panel, start, base, e.mul(group, most * lanes), most, lanes);
      return SmallVector<Value>{};
    });
    int64_t done = groups * most;
    while (done < vectors) {
      int64_t now = vectors - done > most ? (vectors - done) / 2 : vectors - done;
      bool last = done + now == vectors;
      int64_t tail = last && columns % lanes != 0 ? columns % lanes : lanes;
      emitColumns(panel, start, base, e.index(done * lanes), now, tail);
      done += now;
    }
  }

  // All rows of a few vectors of columns that start `column` into the panel; `tail` lanes of the last vector count.
  void emitColumns(Value panel, Value start, Value base, Value column, int64_t vectors, int64_t tail) {
    int64_t blocks = blocksOf(vectors), rows = llvm::divideCeil(m, blocks), whole = m / rows * rows;
    Value cAt = e.add(c.offset, e.add(start, column)); // columns of c have stride 1
    Value bAt = e.add(base, e.mul(column, pair));
    auto block = [&](Value row, int64_t count) {
      Value number = arith::DivUIOp::create(b, e.loc, row, e.index(rows));
      emitBlock(e.add(cAt, e.mul(row, c.strides[0])), e.add(left.offset, e.mul(row, left.strides[0])), bAt, count,
                vectors, tail, panel, number);
    };
    e.loop(whole, rows, {}, [&](Value row, ValueRange) {
      block(row, rows);
      return SmallVector<Value>{};
    });
    if (m > whole)
      block(e.index(whole), m - whole);
  }

  void fetch(Value flat, Value at) {
    memref::PrefetchOp::create(b, e.loc, flat, ValueRange{at}, /*isWrite=*/false, /*locality=*/2, /*isDataCache=*/true);
  }

  // One row of what lies ahead; rows beyond the last are the last.
  void fetchRow(Value row) {
    const int64_t line = 64 * 8 / ahead.element.getIntOrFloatBitWidth();
    Value last = e.index(ahead.sizes[0] - 1);
    Value at = e.add(ahead.offset, e.mul(arith::MinUIOp::create(b, e.loc, row, last), ahead.strides[0]));
    // Rows that do not start with a line may end in one more.
    const bool aligned = ahead.sizes[1] % line == 0 && ahead.strides[0] % line == 0;
    for (int64_t i = 0; i < ahead.sizes[1] + (aligned ? 0 : line - 1); i += line)
      fetch(ahead.flat, e.add(at, std::min(i, ahead.sizes[1] - 1)));
  }

  void emitBlock(Value cAt, Value aAt, Value bAt, int64_t rows, int64_t vectors, int64_t tail, Value panel,
                 Value number) {
    const bool accumulate = op.getAccumulate();
    Type type = e.lanesOf(c.element, lanes);
    auto active = [&](int64_t v) { return v == vectors - 1 ? tail : lanes; };
    // What will be written, and added to, is fetched while the products are made.
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t v = 0; v < vectors; ++v)
        memref::PrefetchOp::create(b, e.loc, c.flat, ValueRange{e.add(cAt, r * c.strides[0] + v * lanes)},
                                   /*isWrite=*/true, 3, true);

    auto step = [&](Value at, int64_t offset, SmallVector<Value> sums) {
      Value bRow = e.add(bAt, e.mul(at, depthStride)), aColumn = e.add(aAt, e.mul(at, pair * left.strides[1]));
      if (pair == 2)
        return stepOfPairs(e.add(bRow, offset * depthStride), e.add(aColumn, offset * 2), rows, vectors,
                           std::move(sums));
      SmallVector<Value> row;
      for (int64_t v = 0; v < vectors; ++v) // panels are padded with zeros; rows that are not packed end where c does
        row.push_back(e.load(right.flat, e.add(bRow, offset * depthStride + v * lanes), 1, lanes,
                             panelStride ? lanes : active(v)));
      for (int64_t r = 0; r < rows; ++r) {
        Value scalar =
            memref::LoadOp::create(b, e.loc, left.flat, e.add(aColumn, offset * left.strides[1] + r * left.strides[0]));
        Value factor = e.broadcast(scalar, lanes);
        for (int64_t v = 0; v < vectors; ++v)
          sums[r * vectors + v] = multiplyAdd(factor, row[v], sums[r * vectors + v]);
      }
      return sums;
    };
    // About fifty products a turn: enough to forget the loop's own instructions, little enough for the instruction
    // cache.
    int64_t unroll = std::clamp<int64_t>(48 / (rows * vectors), 1, 8), whole = k / unroll * unroll;
    SmallVector<Value> sums(rows * vectors, e.splat(type, 0));
    // What comes next is fetched meanwhile, into the second cache: the next panel of b, each block of rows its share of
    // it, and what the op says lies ahead, each block of each panel its share.
    const int64_t blocks = blocksOf(vectors), allTurns = whole / unroll;
    const int64_t line = 64 * 8 / right.element.getIntOrFloatBitWidth();
    const int64_t lines = whole == 0 ? 0 : llvm::divideCeil(k * depthStride, line * blocks * allTurns);
    const bool fetchesPanel = panelStride != 0 && lines <= 2 && vectors == target.getPanelVectors();
    Value nextPanel = e.add(e.add(bAt, panelStride), e.mul(number, allTurns * lines * line));
    Value aheadRow = e.mul(e.add(e.mul(panel, blocks), number), aheadRows);
    auto turns = [&](int64_t first, int64_t count, bool fetches) {
      sums = e.loop(count, unroll, sums, [&](Value from, ValueRange carried) {
        Value at = e.add(from, first), turn = arith::DivUIOp::create(b, e.loc, at, e.index(unroll));
        for (int64_t i = 0; fetchesPanel && i < lines; ++i)
          fetch(right.flat, e.add(e.add(nextPanel, e.mul(turn, lines * line)), i * line));
        if (fetches)
          fetchRow(e.add(aheadRow, turn));
        SmallVector<Value> now(carried);
        for (int64_t u = 0; u < unroll; ++u)
          now = step(at, u, std::move(now));
        return now;
      });
    };
    const int64_t fetching = std::min(aheadRows * unroll, whole);
    turns(0, fetching, /*fetches=*/true);
    turns(fetching, whole - fetching, /*fetches=*/false);
    for (int64_t u = whole; u < k; ++u)
      sums = step(e.index(u), 0, std::move(sums));

    for (int64_t r = 0; r < rows; ++r)
      for (int64_t v = 0; v < vectors; ++v) {
        Value at = e.add(cAt, r * c.strides[0] + v * lanes), sum = sums[r * vectors + v];
        if (accumulate)
          sum = arith::AddFOp::create(b, e.loc, e.load(c.flat, at, 1, lanes, active(v)), sum);
        e.store(sum, c.flat, at, 1, active(v));
      }
  }

  SmallVector<Value> stepOfPairs(Value bRow, Value aColumn, int64_t rows, int64_t vectors, SmallVector<Value> sums) {
    const bool dot = hasBf16Dot(target) && lanes >= 4;
    auto pairs = [&](int64_t lanes) { return VectorType::get({2 * lanes}, b.getBF16Type()); };
    // The elements of a pair widened, first and second: a bf16 is the upper half of an f32.
    auto widened = [&](Value bits) {
      Type type = lanes == 1 ? Type(b.getF32Type()) : VectorType::get({lanes}, b.getF32Type());
      Value first = arith::ShLIOp::create(b, e.loc, bits, e.splat(bits.getType(), 16));
      Value second = arith::AndIOp::create(b, e.loc, bits, e.splat(bits.getType(), -65536));
      return std::array<Value, 2>{arith::BitcastOp::create(b, e.loc, type, first),
                                  arith::BitcastOp::create(b, e.loc, type, second)};
    };
    auto bitsOf = [&](Value vector, int64_t lanes) -> Value {
      Value bits = vector::BitCastOp::create(b, e.loc, VectorType::get({lanes}, b.getI32Type()), vector);
      return lanes == 1 ? Value(vector::ExtractOp::create(b, e.loc, bits, 0)) : bits;
    };
    SmallVector<Value> row;
    SmallVector<std::array<Value, 2>> wideRow;
    for (int64_t v = 0; v < vectors; ++v) {
      row.push_back(vector::LoadOp::create(b, e.loc, pairs(lanes), right.flat, ValueRange{e.add(bRow, v * 2 * lanes)}));
      if (!dot)
        wideRow.push_back(widened(bitsOf(row.back(), lanes)));
    }
    for (int64_t r = 0; r < rows; ++r) {
      Value two =
          vector::LoadOp::create(b, e.loc, pairs(1), left.flat, ValueRange{e.add(aColumn, r * left.strides[0])});
      Value factor = e.broadcast(bitsOf(two, 1), lanes);
      if (dot) {
        factor = vector::BitCastOp::create(b, e.loc, pairs(lanes), factor);
        auto name = b.getStringAttr("llvm.x86.avx512bf16.dpbf16ps." + std::to_string(32 * lanes));
        for (int64_t v = 0; v < vectors; ++v) {
          Value &sum = sums[r * vectors + v];
          sum = LLVM::CallIntrinsicOp::create(b, e.loc, sum.getType(), name, ValueRange{sum, factor, row[v]})
                    .getResult(0);
        }
        continue;
      }
      std::array<Value, 2> wide = widened(factor);
      for (int64_t v = 0; v < vectors; ++v)
        for (int64_t s : {0, 1})
          sums[r * vectors + v] = multiplyAdd(wide[s], wideRow[v][s], sums[r * vectors + v]);
    }
    return sums;
  }

  Value multiplyAdd(Value x, Value y, Value sum) {
    if (hasFma(target))
      return math::FmaOp::create(b, e.loc, x, y, sum);
    return arith::AddFOp::create(b, e.loc, arith::MulFOp::create(b, e.loc, x, y), sum);
  }
};

struct LowerContract : impl::CpuLowerContractBase<LowerContract> {
  void runOnOperation() override {
    TargetAttr target = kernelTarget(getOperation());
    if (!target) {
      if (getOperation()->hasAttr("burin.kernel"))
        signalPassFailure();
      return;
    }
    SmallVector<ContractOp> contracts;
    getOperation().walk([&](ContractOp contract) { contracts.push_back(contract); });
    for (ContractOp contract : contracts) {
      OpBuilder b(contract);
      if (failed(Contract(b, contract, target).lower()))
        return signalPassFailure();
      contract.erase();
    }
  }
};

} // namespace
} // namespace burin
