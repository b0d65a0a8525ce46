// burin.contract in bf16 by warpgroups (sm_90a): the four warps of a block multiply 64 x 16 of a by 16 x up to 128 of b
// with one asynchronous instruction, sums in f32 in their registers; warp w has the rows from 16 w on.
//
// a comes in registers, as for the instructions of a warp: the block has just rounded it there itself. b comes from
// shared memory, which the instruction reads by a description of where the parts lie. Panels for warpgroups hold rows
// of 64 columns, 128 bytes; 8 of them are the unit of the layout with a swizzle of 128 bytes, columns side by side:
// in row r the 16 bytes number c lie at place c xor r mod 8, so that reading along the depth meets all banks.
#include "codegen/gpu/contract.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace burin::gpu {

using namespace mlir;

namespace {

constexpr int64_t groupRows = 64, warpRows = 16, stepDepth = 16, mostColumns = 2 * rowColumns;
constexpr int64_t rowBytes = 2 * rowColumns, unitRows = 8, pieceBytes = 16, pieceElements = pieceBytes / 2;
// How many portions of b's rows are in shared memory.
constexpr int64_t portions = 3;

int64_t columnsAtATime(int64_t n) { return std::min<int64_t>(mostColumns, llvm::alignTo(n, 8)); }
int64_t panelBytes(int64_t portion) { return portion * rowBytes; }
int64_t portionBytes(int64_t n, int64_t portion) {
  return llvm::divideCeil(columnsAtATime(n), rowColumns) * panelBytes(portion);
}

class Warpgroup {
public:
  Warpgroup(const Emitter &e, const Contract &x, int64_t portion)
      : e(e), x(x), portion(portion), columns(columnsAtATime(x.n)), i32(e.b.getI32Type()), i64(e.b.getI64Type()),
        f32(e.b.getF32Type()) {
    Value lane = e.rem(e.thread(), lanesOfWarp);
    group = e.div(lane, 4);
    member = e.rem(lane, 4);
    warpRow = e.mul(e.div(e.thread(), lanesOfWarp), warpRows);
  }

  void emit() {
    forBlocks(e, x, groupRows, columns, [&](Value row, Value column) { block(row, column); });
  }

private:
  const Emitter &e;
  const Contract &x;
  const int64_t portion, columns;
  Type i32, i64, f32;
  Value group, member, warpRow;

  void block(Value blockRow, Value blockColumn) {
    Value firstRow = e.add(blockRow, warpRow);
    const LeftRows left(e, x, firstRow);
    const int64_t whole = x.k / portion, count = llvm::divideCeil(x.k, portion);
    if (x.m > groupRows || x.n > columns)
      e.barrier(); // the block before may still be at work
    for (int64_t i = 0; i < portions - 1; ++i) {
      if (i < count)
        copy(blockColumn, e.constant(i), e.constant(i));
      NVVM::CpAsyncCommitGroupOp::create(e.b, e.loc);
    }
    auto turn = [&](Value number, int64_t depth, SmallVector<Value> sums) {
      // All but the newest copies are there, and seen by who reads them: each thread says so of its own before it meets
      // the others. Nobody reads what the next ones overwrite.
      NVVM::CpAsyncWaitGroupOp::create(e.b, e.loc, e.b.getI32IntegerAttr(portions - 2));
      NVVM::FenceProxyOp::create(e.b, e.loc, NVVM::ProxyKindAttr::get(e.b.getContext(), NVVM::ProxyKind::async_shared),
                                 NVVM::SharedSpaceAttr::get(e.b.getContext(), NVVM::SharedSpace::shared_cta));
      e.barrier();
      Value next = e.add(number, portions - 1);
      e.when(e.less(next, count), [&] { copy(blockColumn, next, e.rem(next, portions)); });
      NVVM::CpAsyncCommitGroupOp::create(e.b, e.loc);
      SmallVector<Value> parts;
      const int64_t steps = llvm::divideCeil(depth, stepDepth);
      for (int64_t s = 0; s < steps; ++s)
        parts.append(
            left.at(e.add(e.mul(number, portion), s * stepDepth), std::min(stepDepth, depth - s * stepDepth) / 2));
      return multiply(parts, e.rem(number, portions), std::move(sums));
    };
    SmallVector<Value> sums(columns / 2, e.zeroOf(f32));
    sums = e.loop(0, whole, 1, sums,
                  [&](Value number, ValueRange carried) { return turn(number, portion, SmallVector<Value>(carried)); });
    e.keepRolled(sums);
    if (const int64_t rest = x.k - whole * portion; rest > 0)
      sums = turn(e.constant(whole), rest, std::move(sums));

    for (int64_t half : {0, 1}) {
      Value row = e.add(e.add(firstRow, half * unitRows), group);
      Value rowInside = x.m % groupRows == 0 ? Value() : e.less(row, x.m);
      for (int64_t j = 0; j < columns; j += 8)
        writePair(e, x, row, rowInside, e.add(e.add(blockColumn, j), e.mul(member, 2)), x.n % columns == 0,
                  {sums[j / 2 + half * 2], sums[j / 2 + half * 2 + 1]});
    }
  }

  // Rows of b from number * portion on to place `place` of shared memory, 16 bytes at a time, neighbours along the
  // columns.
  void copy(Value blockColumn, Value number, Value place) {
    const int64_t pieces = columns / pieceElements, piecesOfRow = rowBytes / pieceBytes;
    e.shareOut(portion * pieces, [&](Value unit) {
      Value row = e.div(unit, pieces), piece = e.rem(unit, pieces);
      Value column = e.add(blockColumn, e.mul(piece, pieceElements));
      if (x.n % columns != 0)
        column = e.min(column, x.readable - pieceElements);
      Value source = e.add(e.mul(number, portion), row), read = source, bytes;
      // Rows beyond the end are not multiplied; in the last step of 16 they are zeros.
      if (x.k % portion != 0)
        read = e.min(source, x.k - 1);
      if (x.k % stepDepth != 0)
        bytes = arith::SelectOp::create(e.b, e.loc, e.less(source, x.k), number32(pieceBytes), number32(0));
      Value from = e.at(x.b.base, x.b.element,
                        e.add(e.mul(e.div(column, rowColumns), x.panelStride), e.rem(column, rowColumns)));
      from = e.at(from, x.b.element, e.mul(read, rowColumns));
      Value swizzled = e.b.createOrFold<arith::XOrIOp>(e.loc, e.rem(piece, piecesOfRow), e.rem(row, unitRows));
      Value to = e.add(e.mul(e.div(piece, piecesOfRow), panelBytes(portion)),
                       e.add(e.mul(row, rowBytes), e.mul(swizzled, pieceBytes)));
      to = e.add(e.mul(place, portionBytes(x.n, portion)), to);
      NVVM::CpAsyncOp::create(
          e.b, e.loc, e.at(e.staging(), e.b.getI8Type(), to), from, e.b.getI32IntegerAttr(pieceBytes),
          NVVM::LoadCacheModifierKindAttr::get(e.b.getContext(), NVVM::LoadCacheModifierKind::CG), bytes);
    });
  }

  Value number32(int64_t value) { return arith::ConstantIntOp::create(e.b, e.loc, i32, value); }

  // What the instruction must know of b, 16 rows of which start at a multiple of 1024 bytes: where they start, from
  // panel to panel, from 8 rows to the next 8 (in units of 16 bytes), and that the swizzle is of 128 bytes.
  Value describe(Value place, int64_t step) {
    constexpr int panelsAt = 16, rowsAt = 32, swizzleAt = 62, swizzle128 = 1;
    const int64_t fixed = panelBytes(portion) / pieceBytes << panelsAt | unitRows * rowBytes / pieceBytes << rowsAt |
                          int64_t(swizzle128) << swizzleAt;
    auto wide = [&](int64_t value) { return arith::ConstantIntOp::create(e.b, e.loc, i64, value).getResult(); };
    Value offset = e.mul(place, portionBytes(x.n, portion) / pieceBytes);
    if (offset.getType() != i64)
      offset = arith::ExtUIOp::create(e.b, e.loc, i64, offset);
    Value start = LLVM::PtrToIntOp::create(e.b, e.loc, i64, e.staging());
    start = arith::ShRUIOp::create(e.b, e.loc, start, wide(4));
    return arith::AddIOp::create(e.b, e.loc, arith::AddIOp::create(e.b, e.loc, start, offset),
                                 wide(fixed + step * stepDepth * rowBytes / pieceBytes));
  }

  // sums += parts of a times a portion of b. One piece of text from the fence to the wait: between them nothing may
  // touch the registers, and the compiler behind us must not move anything there.
  SmallVector<Value> multiply(ArrayRef<Value> parts, Value place, SmallVector<Value> sums) {
    const int64_t count = static_cast<int64_t>(sums.size()), steps = static_cast<int64_t>(parts.size()) / 4;
    SmallVector<Value> operands(sums);
    operands.append(parts.begin(), parts.end());
    std::string text, constraints;
    llvm::raw_string_ostream to(text), places(constraints);
    auto list = [&](int64_t first, int64_t size) {
      to << "{";
      llvm::interleaveComma(llvm::seq(first, first + size), to, [&](int64_t number) { to << "$" << number; });
      to << "}, ";
    };
    // With &: no part of a may be in a sum's register, which the first of several products writes.
    for (int64_t i = 0; i < count; ++i)
      places << "=&f,";
    for (int64_t i = 0; i < count; ++i)
      places << i << ",";
    for (int64_t i = 0; i < 4 * steps; ++i)
      places << "r,";
    to << "{\n\t.reg .pred p;\n\tsetp.eq.b32 p, 0, 0;\n\twgmma.fence.sync.aligned;\n";
    for (int64_t s = 0; s < steps; ++s) {
      operands.push_back(describe(place, s));
      places << "l,";
      to << "\twgmma.mma_async.sync.aligned.m64n" << columns << "k16.f32.bf16.bf16 ";
      list(0, count);
      list(2 * count + 4 * s, 4);
      // Added to what is there, neither side negated, b with its columns side by side.
      to << "$" << 2 * count + 4 * steps + s << ", p, 1, 1, 1;\n";
    }
    to << "\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n\t}";
    places << "~{memory}";
    auto type = LLVM::LLVMStructType::getLiteral(e.b.getContext(), SmallVector<Type>(count, f32));
    Value all = LLVM::InlineAsmOp::create(e.b, e.loc, type, operands, text, constraints,
                                          /*has_side_effects=*/true, /*is_align_stack=*/false,
                                          LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
                    .getRes();
    for (auto [i, sum] : llvm::enumerate(sums))
      sum = LLVM::ExtractValueOp::create(e.b, e.loc, all, static_cast<int64_t>(i));
    return sums;
  }
};

} // namespace

StringRef whyNotByWarpgroup(const Contract &x) {
  if (x.pair != 2 || x.width != rowColumns || x.depthStride != 2 * rowColumns || !x.streamsB)
    return "takes panels of 64 columns of bf16 from a tensor";
  if (x.b.alignment % pieceBytes != 0 || x.panelStride % pieceElements != 0)
    return "takes panels at multiples of 16 bytes";
  if (x.a.strides[0] % 2 != 0 || x.a.alignment % 4 != 0)
    return "takes rows that start at whole pairs";
  return {};
}

void contractByWarpgroup(const Emitter &e, const Contract &contract, int64_t portion) {
  Warpgroup(e, contract, portion).emit();
}

int64_t warpgroupBytes(int64_t n, int64_t k, int64_t portion) {
  return std::min<int64_t>(portions, llvm::divideCeil(k, portion)) * portionBytes(n, portion);
}

} // namespace burin::gpu
