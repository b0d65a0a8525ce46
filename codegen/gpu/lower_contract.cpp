// burin.contract becomes register blocks. In f32 each thread keeps up to 8 x 8 sums; in bf16 a warp keeps pieces of 16
// x 8 that the matrix instructions add to (contract_bf16.cpp), or a warpgroup 64 x 128 (contract_warpgroup.cpp).
#include "codegen/gpu/contract.h"
#include "codegen/gpu/gpu.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace burin {

#define GEN_PASS_DEF_GPULOWERCONTRACT
#include "codegen/gpu/passes.h.inc"

using namespace mlir;
using namespace gpu;

namespace gpu {

bool liesInTensor(Value memref) {
  Operation *op = memref.getDefiningOp();
  while (op && !isa<UnrealizedConversionCastOp, memref::ViewOp>(op)) {
    memref = op->getOperand(0);
    op = memref.getDefiningOp();
  }
  return !op || (isa<UnrealizedConversionCastOp>(op) && !op->hasAttr("burin.scratch"));
}

void forBlocks(const Emitter &e, const Contract &x, int64_t rows, int64_t columns,
               llvm::function_ref<void(Value, Value)> body) {
  e.loop(0, x.m, rows, {}, [&](Value row, ValueRange) {
    e.loop(0, x.n, columns, {}, [&](Value column, ValueRange) {
      body(row, column);
      return SmallVector<Value>{};
    });
    return SmallVector<Value>{};
  });
}

int64_t contractStagingBytes(ContractOp op) {
  if (auto portion = op->getAttrOfType<IntegerAttr>(byWarpgroupName))
    return warpgroupBytes(op.getC().getType().getDimSize(1), op.getA().getType().getDimSize(1), portion.getInt());
  if (!op.getA().getType().getElementType().isBF16() || !liesInTensor(op.getB()))
    return 0;
  return streamBytes(op.getC().getType().getDimSize(0), op.getC().getType().getDimSize(1));
}

std::optional<Contract> readContract(OpBuilder &b, ContractOp op) {
  Contract x;
  x.c = resolveTile(b, op.getLoc(), op.getC());
  x.a = resolveTile(b, op.getLoc(), op.getA());
  x.b = resolveTile(b, op.getLoc(), op.getB());
  if (!x.c.base || !x.a.base || !x.b.base)
    return std::nullopt;
  x.m = x.c.sizes[0];
  x.n = x.c.sizes[1];
  x.k = x.a.sizes[1];
  x.pair = x.b.element.isBF16() ? 2 : 1;
  const bool packed = x.b.sizes.size() == 3;
  x.width = packed ? x.b.sizes[2] / x.pair : x.n;
  x.readable = packed ? x.b.sizes[0] * x.width : x.n;
  x.panelStride = packed ? x.b.strides[0] : 0;
  x.depthStride = packed ? x.b.strides[1] : x.b.strides[0];
  x.accumulate = op.getAccumulate();
  x.streamsB = liesInTensor(op.getB());
  return x;
}

Value Contract::columnOf(const Emitter &e, Value j) const {
  if (readable <= width)
    return e.mul(j, pair);
  return e.add(e.mul(e.div(j, width), panelStride), e.mul(e.rem(j, width), pair));
}

namespace {

// How c is cut: a block of rows x columns at a time, of which thread (r, s) has rowsEach x columnsEach elements.
struct Cut {
  int64_t rowThreads, columnThreads, rowsEach, columnsEach;

  int64_t rows() const { return rowThreads * rowsEach; }
  int64_t columns() const { return columnThreads * columnsEach; }
};

Cut cutOf(int64_t m, int64_t n, int64_t chunk) {
  auto atLeast = [](int64_t x) { return static_cast<int64_t>(llvm::bit_ceil(static_cast<uint64_t>(x))); };
  Cut cut;
  // 16 threads side by side with 4 or 8 columns each: whole lines of b, and each of its elements used for 8 rows.
  cut.columnThreads = std::min<int64_t>(16, atLeast(llvm::divideCeil(n, 4)));
  cut.rowThreads = std::min(threads / cut.columnThreads, atLeast(m));
  cut.columnThreads = threads / cut.rowThreads;
  cut.rowsEach = std::min<int64_t>(8, atLeast(llvm::divideCeil(m, cut.rowThreads)));
  cut.columnsEach = std::max(chunk, std::min<int64_t>(8, atLeast(llvm::divideCeil(n, cut.columnThreads))));
  return cut;
}

// The most neighbouring columns that a thread may take: 4, 2 or 1, none of them split by a panel's end.
int64_t chunkOf(const Contract &x) {
  for (int64_t chunk : {4, 2})
    if (x.width % chunk == 0 && x.readable % chunk == 0 && x.readable >= chunk)
      return chunk;
  return 1;
}

} // namespace

void contractInF32(const Emitter &e, const Contract &x) {
  const int64_t chunk = chunkOf(x);
  const Cut cut = cutOf(x.m, x.n, chunk);
  const Type f32 = e.b.getF32Type();
  const bool wideB = chunk == 4 && x.b.alignment % 16 == 0 && x.depthStride % 4 == 0 && x.panelStride % 4 == 0,
             wideC = chunk == 4 && x.n % 4 == 0 && x.c.alignment % 16 == 0 && x.c.strides[0] % 4 == 0,
             wideA = x.a.strides[1] == 1 && x.a.alignment % 16 == 0 && x.a.strides[0] % 4 == 0;
  // Adjacent rows of a belong to one thread where they are adjacent in memory.
  const bool rowsAdjacent = x.a.strides[0] == 1 && x.m % cut.rows() == 0;
  const bool wideRows = rowsAdjacent && cut.rowsEach % 4 == 0 && x.a.alignment % 16 == 0 && x.a.strides[1] % 4 == 0;
  Value rowThread = e.div(e.thread(), cut.columnThreads), columnThread = e.rem(e.thread(), cut.columnThreads);

  auto block = [&](Value firstRow, Value firstColumn) {
    SmallVector<Value> rows, rowInside, aRows;
    for (int64_t i = 0; i < cut.rowsEach; ++i) {
      Value row = rowsAdjacent ? e.add(e.add(firstRow, e.mul(rowThread, cut.rowsEach)), i)
                               : e.add(e.add(firstRow, rowThread), i * cut.rowThreads);
      const bool whole = x.m % cut.rows() == 0;
      rows.push_back(row);
      rowInside.push_back(whole ? Value() : e.less(row, x.m));
      // Rows beyond the end read the last one, and are not written.
      Value read = whole ? row : e.min(row, x.m - 1);
      if (rowsAdjacent && i > 0)
        aRows.push_back(e.at(aRows[0], f32, i));
      else
        aRows.push_back(e.at(x.a.base, f32, e.mul(read, x.a.strides[0])));
    }
    const int64_t chunks = cut.columnsEach / chunk;
    SmallVector<Value> columns, bColumns;
    for (int64_t j = 0; j < chunks; ++j) {
      Value column = e.add(e.add(firstColumn, e.mul(columnThread, chunk)), j * cut.columnThreads * chunk);
      columns.push_back(column);
      Value read = x.readable % cut.columns() == 0 ? column : e.min(column, x.readable - chunk);
      bColumns.push_back(e.at(x.b.base, f32, x.columnOf(e, read)));
    }

    // Four steps of the depth at a time where a's are adjacent: they are read as one.
    auto steps = [&](Value at, int64_t count, SmallVector<Value> sums) {
      SmallVector<SmallVector<Value>> left(count, SmallVector<Value>(cut.rowsEach));
      auto along = [&](int64_t row, int64_t step) {
        return e.at(e.at(aRows[row], f32, e.mul(at, x.a.strides[1])), f32, step * x.a.strides[1]);
      };
      if (wideRows) {
        for (int64_t s = 0; s < count; ++s)
          for (int64_t i = 0; i < cut.rowsEach; i += 4)
            llvm::copy(e.loadRun(f32, along(i, s), 4, 16), left[s].begin() + i);
      } else if (wideA && count == 4) {
        for (int64_t i = 0; i < cut.rowsEach; ++i)
          for (auto [s, value] : llvm::enumerate(e.loadRun(f32, along(i, 0), 4, 16)))
            left[s][i] = value;
      } else {
        for (int64_t i = 0; i < cut.rowsEach; ++i)
          for (int64_t s = 0; s < count; ++s)
            left[s][i] = e.load(f32, along(i, s));
      }
      for (int64_t s = 0; s < count; ++s) {
        SmallVector<Value> right;
        for (int64_t j = 0; j < chunks; ++j) {
          Value row = e.at(e.at(bColumns[j], f32, e.mul(at, x.depthStride)), f32, s * x.depthStride);
          llvm::append_range(right, e.loadRun(f32, row, chunk, wideB ? 16 : 4));
        }
        for (int64_t i = 0; i < cut.rowsEach; ++i)
          for (int64_t j = 0; j < cut.columnsEach; ++j) {
            Value &sum = sums[i * cut.columnsEach + j];
            sum = math::FmaOp::create(e.b, e.loc, left[s][i], right[j], sum);
          }
      }
      return sums;
    };
    const int64_t unroll = x.a.strides[1] == 1 ? 4 : 2, whole = x.k / unroll * unroll;
    SmallVector<Value> sums(cut.rowsEach * cut.columnsEach, e.zeroOf(f32));
    sums = e.loop(0, whole, unroll, sums,
                  [&](Value at, ValueRange carried) { return steps(at, unroll, SmallVector<Value>(carried)); });
    if (cut.rowsEach * cut.columnsEach * unroll >= 128)
      e.keepRolled(sums);
    for (int64_t at = whole; at < x.k; ++at)
      sums = steps(e.constant(at), 1, sums);

    for (int64_t i = 0; i < cut.rowsEach; ++i)
      for (int64_t j = 0; j < chunks; ++j) {
        Value start = e.at(x.c.base, f32, e.add(e.mul(rows[i], x.c.strides[0]), columns[j]));
        auto write = [&](int64_t from, int64_t to) {
          const int64_t alignment = wideC && to - from == 4 ? 16 : 4;
          Value first = e.at(start, f32, from);
          SmallVector<Value> values(ArrayRef<Value>(sums).slice(i * cut.columnsEach + j * chunk + from, to - from));
          if (x.accumulate)
            for (auto [value, before] : llvm::zip_equal(values, e.loadRun(f32, first, to - from, alignment)))
              value = arith::AddFOp::create(e.b, e.loc, before, value);
          e.storeRun(values, first, alignment);
        };
        if (x.n % cut.columns() == 0) {
          e.when(rowInside[i], [&] { write(0, chunk); });
        } else if (x.n % chunk == 0) {
          e.when(e.both(rowInside[i], e.less(columns[j], x.n)), [&] { write(0, chunk); });
        } else {
          for (int64_t within = 0; within < chunk; ++within)
            e.when(e.both(rowInside[i], e.less(e.add(columns[j], within), x.n)), [&] { write(within, within + 1); });
        }
      }
  };
  e.loop(0, x.m, cut.rows(), {}, [&](Value row, ValueRange) {
    e.loop(0, x.n, cut.columns(), {}, [&](Value column, ValueRange) {
      block(row, column);
      return SmallVector<Value>{};
    });
    return SmallVector<Value>{};
  });
}

} // namespace gpu

namespace {

struct LowerContract : impl::GpuLowerContractBase<LowerContract> {
  void runOnOperation() override {
    if (!isKernel(getOperation()))
      return;
    SmallVector<ContractOp> contracts;
    getOperation().walk([&](ContractOp contract) { contracts.push_back(contract); });
    for (ContractOp op : contracts) {
      OpBuilder b(op);
      std::optional<Contract> contract = readContract(b, op);
      if (!contract)
        return signalPassFailure();
      Emitter e{b, op.getLoc()};
      if (std::max({contract->a.span(), contract->b.span(), contract->c.span()}) >
          std::numeric_limits<int32_t>::max() / 2)
        e.number = b.getI64Type();
      if (auto portion = op->getAttrOfType<IntegerAttr>(byWarpgroupName)) {
        if (StringRef why = whyNotByWarpgroup(*contract); !why.empty()) {
          op.emitError() << "internal error: a product of a warpgroup " << why << " (please report)";
          return signalPassFailure();
        }
        contractByWarpgroup(e, *contract, portion.getInt());
      } else if (contract->pair == 1) {
        contractInF32(e, *contract);
      } else if (fitsMatrixUnits(*contract)) {
        contractInBf16(e, *contract);
      } else {
        op.emitError("internal error: panels of bf16 are multiples of 8 columns wide, and rows of a start at whole "
                     "pairs (please report)");
        return signalPassFailure();
      }
      op.erase();
    }
  }
};

} // namespace
} // namespace burin
