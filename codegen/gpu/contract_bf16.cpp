// burin.contract in bf16 on matrix units: a warp multiplies 16 x 16 of a by 16 x 8 of b with one instruction, sums in
// f32 in its registers. Panels of b hold pairs of its rows side by side, which is just what a lane needs of b: lane 4 g
// + t takes column g and the pairs t and t + 4. Of a it needs the pairs t and t + 4 of the rows g and g + 8; from
// shared memory one instruction fetches them for the whole warp.
#include "codegen/gpu/contract.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace burin::gpu {

using namespace mlir;

namespace {

constexpr int64_t pieceRows = 16, pieceColumns = 8, pieceDepth = 16;
// Rows of pairs that are copied at a time, and how many such portions are in shared memory.
constexpr int64_t portion = 16, portions = 3;

// Warps of a block, and pieces of a warp, each way.
struct Cut {
  int64_t warpRows, warpColumns, tall, wide;

  Cut(int64_t m, int64_t n) {
    auto atLeast = [](int64_t v) { return static_cast<int64_t>(llvm::bit_ceil(static_cast<uint64_t>(v))); };
    constexpr int64_t warps = threads / lanesOfWarp;
    warpRows = m > pieceRows ? 2 : 1;
    warpColumns = warps / warpRows;
    tall = m > warpRows * pieceRows ? 2 : 1;
    wide = std::min<int64_t>(8, atLeast(llvm::divideCeil(n, warpColumns * pieceColumns)));
  }

  int64_t rows() const { return warpRows * tall * pieceRows; }
  int64_t columns() const { return warpColumns * wide * pieceColumns; }
  // Words of a row in shared memory: 8 more than a multiple of 32.
  int64_t rowWords() const { return static_cast<int64_t>(llvm::alignTo(columns(), 32)) + 8; }
};

// A word of two neighbours along the depth, pair first + member; zero where fewer are there.
Value pairWord(const Emitter &e, Value start, Value at, int64_t first, Value member, int64_t pairs) {
  const Type i32 = e.b.getI32Type();
  Value there = pairs >= first + 4 ? Value() : e.less(e.add(member, first), pairs);
  return e.when(there, e.zeroOf(i32), [&] { return SmallVector<Value>{e.load(i32, e.at(start, i32, at), 4)}; })[0];
}

// Lanes 0..15 name the rows' first halves, lanes 16..31 their second ones.
SmallVector<Value> fetch(const Emitter &e, Value address) {
  const Type i32 = e.b.getI32Type();
  auto four = LLVM::LLVMStructType::getLiteral(e.b.getContext(), {i32, i32, i32, i32});
  Value all =
      NVVM::LdMatrixOp::create(e.b, e.loc, four, address, e.b.getI32IntegerAttr(4),
                               NVVM::MMALayoutAttr::get(e.b.getContext(), NVVM::MMALayout::row),
                               NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8),
                               NVVM::LdStMatrixEltTypeAttr::get(e.b.getContext(), NVVM::LdStMatrixEltType::B16));
  SmallVector<Value> parts;
  for (int64_t i = 0; i < 4; ++i)
    parts.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, all, i));
  return parts;
}

class Pieces {
public:
  Pieces(const Emitter &e, const Contract &x)
      : e(e), x(x), cut(x.m, x.n), i32(e.b.getI32Type()), f32(e.b.getF32Type()) {
    streams =
        x.streamsB && x.b.alignment % 16 == 0 && x.depthStride % 8 == 0 && x.panelStride % 8 == 0 && x.k / 2 >= portion;
    Value lane = e.rem(e.thread(), lanesOfWarp), warp = e.div(e.thread(), lanesOfWarp);
    group = e.div(lane, 4);
    member = e.rem(lane, 4);
    warpRow = e.mul(e.div(warp, cut.warpColumns), cut.tall * pieceRows);
    warpColumn = e.mul(e.rem(warp, cut.warpColumns), cut.wide * pieceColumns);
  }

  void emit() {
    forBlocks(e, x, cut.rows(), cut.columns(), [&](Value row, Value column) { block(row, column); });
  }

private:
  const Emitter &e;
  const Contract &x;
  Cut cut;
  Type i32, f32;
  bool streams;
  Value group, member, warpRow, warpColumn;
  // Of the block at hand: this lane's parts of a, and where its columns of b start.
  SmallVector<LeftRows> rows;
  SmallVector<Value> columns;

  void block(Value blockRow, Value blockColumn) {
    Value firstRow = e.add(blockRow, warpRow), firstColumn = e.add(blockColumn, warpColumn);
    // Rows and columns beyond the end read the last ones, and are not written.
    rows.clear(), columns.clear();
    for (int64_t i = 0; i < cut.tall; ++i)
      rows.push_back(LeftRows(e, x, e.add(firstRow, i * pieceRows)));
    SmallVector<Value> sums(cut.tall * cut.wide * 4, e.zeroOf(f32));
    if (streams) {
      sums = stream(blockColumn, std::move(sums));
    } else {
      for (int64_t j = 0; j < cut.wide; ++j) {
        Value column = e.min(e.add(firstColumn, j * pieceColumns), x.readable - pieceColumns);
        Value start = e.at(x.b.base, x.b.element, x.columnOf(e, column));
        columns.push_back(e.at(e.at(start, i32, group), i32, e.mul(member, x.depthStride / 2)));
      }
      auto stepAt = [&](Value depth, int64_t pairs, SmallVector<Value> sums) {
        return step(depth, e.div(depth, 2), x.depthStride / 2, pairs, std::move(sums));
      };
      const int64_t whole = x.k / pieceDepth * pieceDepth;
      sums = e.loop(0, whole, pieceDepth, sums,
                    [&](Value depth, ValueRange carried) { return stepAt(depth, 8, SmallVector<Value>(carried)); });
      e.keepRolled(sums);
      if (x.k > whole)
        sums = stepAt(e.constant(whole), (x.k - whole) / 2, sums);
    }

    for (int64_t i = 0; i < cut.tall; ++i)
      for (int64_t half : {0, 1}) {
        Value row = e.add(e.add(firstRow, i * pieceRows + half * 8), group);
        Value rowInside = x.m % cut.rows() == 0 ? Value() : e.less(row, x.m);
        for (int64_t j = 0; j < cut.wide; ++j)
          writePair(e, x, row, rowInside, e.add(e.add(firstColumn, j * pieceColumns), e.mul(member, 2)),
                    x.n % cut.columns() == 0,
                    {sums[(i * cut.wide + j) * 4 + half * 2], sums[(i * cut.wide + j) * 4 + half * 2 + 1]});
      }
  }

  // One step of 16 along the depth: of a from `depth` on, of b from row `pairRow` of `columns` on, whose rows are
  // `rowWords` apart. Of the last step perhaps fewer pairs are there.
  SmallVector<Value> step(Value depth, Value pairRow, int64_t rowWords, int64_t pairs, SmallVector<Value> sums) {
    SmallVector<SmallVector<Value>> left, right;
    for (int64_t i = 0; i < cut.tall; ++i)
      left.push_back(rows[i].at(depth, pairs));
    for (int64_t j = 0; j < cut.wide; ++j) {
      SmallVector<Value> two;
      for (int64_t first : {0, 4})
        two.push_back(pairWord(e, columns[j], e.mul(e.add(pairRow, first), rowWords), first, member, pairs));
      right.push_back(two);
    }
    for (int64_t i = 0; i < cut.tall; ++i)
      for (int64_t j = 0; j < cut.wide; ++j)
        multiply(left[i], right[j], MutableArrayRef<Value>(sums).slice((i * cut.wide + j) * 4, 4));
    return sums;
  }

  // Rows of b by way of shared memory, `portion` at a time.
  SmallVector<Value> stream(Value blockColumn, SmallVector<Value> sums) {
    const int64_t rows = x.k / 2, whole = rows / portion, count = llvm::divideCeil(rows, portion),
                  portionWords = portion * cut.rowWords();
    Value start = e.add(e.add(e.mul(member, cut.rowWords()), group), warpColumn);
    for (int64_t j = 0; j < cut.wide; ++j)
      columns.push_back(e.at(e.at(e.staging(), i32, start), i32, j * pieceColumns));
    if (x.m > cut.rows() || x.n > cut.columns())
      e.barrier(); // the block before may still read
    auto copy = [&](Value number, Value place) {
      // 16 bytes at a time, neighbours along the columns.
      const int64_t units = cut.columns() / 4;
      e.shareOut(portion * units, [&](Value unit) {
        Value row = e.div(unit, units), column = e.mul(e.rem(unit, units), 4);
        Value source = e.add(e.mul(number, portion), row);
        Value read = e.min(e.add(blockColumn, column), x.readable - 4);
        Value from = e.at(e.at(x.b.base, x.b.element, x.columnOf(e, read)), x.b.element,
                          e.mul(e.min(source, rows - 1), x.depthStride));
        Value to = e.at(e.staging(), i32, e.add(e.mul(place, portionWords), e.add(e.mul(row, cut.rowWords()), column)));
        NVVM::CpAsyncOp::create(e.b, e.loc, to, from, e.b.getI32IntegerAttr(16),
                                NVVM::LoadCacheModifierKindAttr::get(e.b.getContext(), NVVM::LoadCacheModifierKind::CG),
                                Value());
      });
    };
    auto commit = [&] { NVVM::CpAsyncCommitGroupOp::create(e.b, e.loc); };
    for (int64_t i = 0; i < portions - 1; ++i) {
      if (i < count)
        copy(e.constant(i), e.constant(i));
      commit();
    }
    auto turn = [&](Value number, int64_t steps, int64_t lastPairs, SmallVector<Value> sums) {
      // All but the newest copies are there, for every thread; and nobody reads what the next one overwrites.
      NVVM::CpAsyncWaitGroupOp::create(e.b, e.loc, e.b.getI32IntegerAttr(portions - 2));
      e.barrier();
      Value next = e.add(number, portions - 1);
      e.when(e.less(next, count), [&] { copy(next, e.rem(next, portions)); });
      commit();
      Value place = e.mul(e.rem(number, portions), portion);
      for (int64_t s = 0; s < steps; ++s)
        sums = step(e.add(e.mul(number, 2 * portion), s * pieceDepth), e.add(place, s * pieceDepth / 2), cut.rowWords(),
                    s == steps - 1 ? lastPairs : 8, std::move(sums));
      return sums;
    };
    sums = e.loop(0, whole, 1, sums, [&](Value number, ValueRange carried) {
      return turn(number, portion / 8, 8, SmallVector<Value>(carried));
    });
    e.keepRolled(sums);
    if (const int64_t rest = rows - whole * portion; rest > 0)
      sums = turn(e.constant(whole), llvm::divideCeil(rest, 8), (rest - 1) % 8 + 1, std::move(sums));
    return sums;
  }

  void multiply(ArrayRef<Value> left, ArrayRef<Value> right, MutableArrayRef<Value> sums) {
    auto four = LLVM::LLVMStructType::getLiteral(e.b.getContext(), {f32, f32, f32, f32});
    Value product =
        NVVM::MmaOp::create(e.b, e.loc, four, left, right, ValueRange(ArrayRef<Value>(sums)),
                            ArrayRef<int64_t>{pieceRows, pieceColumns, pieceDepth}, std::nullopt, std::nullopt,
                            std::array<NVVM::MMATypes, 2>{NVVM::MMATypes::bf16, NVVM::MMATypes::bf16},
                            std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
    for (auto [i, sum] : llvm::enumerate(sums))
      sum = LLVM::ExtractValueOp::create(e.b, e.loc, product, static_cast<int64_t>(i));
  }
};

} // namespace

LeftRows::LeftRows(const Emitter &e, const Contract &x, Value firstRow) : e(e), x(x) {
  const Type i32 = e.b.getI32Type();
  fetches = x.a.shared && x.a.alignment % 16 == 0 && x.a.strides[0] % 8 == 0;
  Value lane = e.rem(e.thread(), lanesOfWarp), group = e.div(lane, 4);
  member = e.rem(lane, 4);
  // Rows beyond the end read the last one.
  auto rowAt = [&](Value row) { return e.at(x.a.base, x.a.element, e.mul(e.min(row, x.m - 1), x.a.strides[0])); };
  if (fetches)
    fetched = e.at(rowAt(e.add(firstRow, e.rem(lane, 16))), x.a.element, e.mul(e.div(lane, 16), 8));
  upper = e.at(rowAt(e.add(firstRow, group)), i32, member);
  lower = e.at(rowAt(e.add(e.add(firstRow, group), 8)), i32, member);
}

SmallVector<Value> LeftRows::at(Value depth, int64_t pairs) const {
  if (fetches && pairs == 8)
    return fetch(e, e.at(fetched, x.a.element, depth));
  SmallVector<Value> four;
  for (int64_t first : {0, 4})
    for (Value start : {upper, lower})
      four.push_back(pairWord(e, start, e.add(e.div(depth, 2), first), first, member, pairs));
  return four;
}

void writePair(const Emitter &e, const Contract &x, Value row, Value rowInside, Value column, bool wholeColumns,
               std::array<Value, 2> sums) {
  const Type f32 = e.b.getF32Type();
  Value start = e.at(x.c.base, f32, e.add(e.mul(row, x.c.strides[0]), column));
  const bool aligned = x.c.alignment % 8 == 0 && x.c.strides[0] % 2 == 0;
  auto writeFrom = [&](int64_t from, int64_t to) {
    const int64_t alignment = aligned && to - from == 2 ? 8 : 4;
    Value first = e.at(start, f32, from);
    SmallVector<Value> results(ArrayRef<Value>(sums).slice(from, to - from));
    if (x.accumulate)
      for (auto [result, before] : llvm::zip_equal(results, e.loadRun(f32, first, to - from, alignment)))
        result = arith::AddFOp::create(e.b, e.loc, before, result);
    e.storeRun(results, first, alignment);
  };
  if (wholeColumns) {
    e.when(rowInside, [&] { writeFrom(0, 2); });
  } else if (x.n % 2 == 0) {
    e.when(e.both(rowInside, e.less(column, x.n)), [&] { writeFrom(0, 2); });
  } else {
    for (int64_t within : {0, 1})
      e.when(e.both(rowInside, e.less(e.add(column, within), x.n)), [&] { writeFrom(within, within + 1); });
  }
}

bool fitsMatrixUnits(const Contract &x) {
  return x.width % pieceColumns == 0 && x.a.strides[0] % 2 == 0 && x.a.alignment % 4 == 0 && x.b.alignment % 4 == 0 &&
         x.depthStride % 2 == 0 && x.panelStride % 2 == 0;
}

void contractInBf16(const Emitter &e, const Contract &contract) { Pieces(e, contract).emit(); }

int64_t streamBytes(int64_t m, int64_t n) { return portions * portion * Cut(m, n).rowWords() * 4; }

} // namespace burin::gpu
