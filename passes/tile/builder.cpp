// The tile words as a builder. See builder.h for a use.
#include "passes/tile/builder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace burin {

namespace {

constexpr int64_t alignment = 64;

int64_t bytesOf(ArrayRef<int64_t> sizes, Type element) {
  int64_t bytes = (element.getIntOrFloatBitWidth() + 7) / 8;
  for (int64_t size : sizes)
    bytes *= size;
  return bytes;
}

} // namespace

TileBuilder::TileBuilder(OpBuilder &builder, Location loc, TargetAttr target, Value scratch, bool inBf16)
    : b(builder), loc(loc), target(target), inBf16(inBf16), scratchArgument(scratch) {}

Value TileBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

Value TileBuilder::f32(double value) {
  return arith::ConstantFloatOp::create(b, loc, b.getF32Type(), llvm::APFloat(static_cast<float>(value)));
}

Value TileBuilder::add(Value x, Value y) {
  auto cx = getConstantIntValue(x), cy = getConstantIntValue(y);
  if (cx && cy)
    return index(*cx + *cy);
  if (cx && *cx == 0)
    return y;
  if (cy && *cy == 0)
    return x;
  return arith::AddIOp::create(b, loc, x, y);
}

Value TileBuilder::mul(Value x, int64_t factor) {
  if (auto cx = getConstantIntValue(x))
    return index(*cx * factor);
  if (factor == 1)
    return x;
  return arith::MulIOp::create(b, loc, x, index(factor));
}

Value TileBuilder::tile(const Stored &tensor, ArrayRef<Value> start, ArrayRef<int64_t> sizes) {
  assert(start.size() == tensor.where.sizes.size() && sizes.size() == start.size());
  Value offset = index(tensor.where.offset);
  SmallVector<int64_t> kept, strides;
  for (auto [at, size, stride] : llvm::zip_equal(start, sizes, tensor.where.strides)) {
    // A repeated dimension needs no address arithmetic.
    if (stride != 0)
      offset = add(offset, mul(at, stride));
    if (size == 0)
      continue;
    kept.push_back(size);
    strides.push_back(stride);
  }
  auto element = cast<MemRefType>(tensor.base.getType()).getElementType();
  std::optional<int64_t> fixed = getConstantIntValue(offset);
  auto layout = StridedLayoutAttr::get(b.getContext(), fixed.value_or(ShapedType::kDynamic), strides);
  OpFoldResult at = fixed ? OpFoldResult(b.getIndexAttr(*fixed)) : OpFoldResult(offset);
  return memref::ReinterpretCastOp::create(b, loc, MemRefType::get(kept, element, layout), tensor.base, at,
                                           getAsIndexOpFoldResult(b.getContext(), kept),
                                           getAsIndexOpFoldResult(b.getContext(), strides));
}

Value TileBuilder::transposed(Value tile) {
  auto map = AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, b.getContext());
  return memref::TransposeOp::create(b, loc, tile, AffineMapAttr::get(map));
}

Value TileBuilder::part(Value tile, ArrayRef<Value> start, ArrayRef<int64_t> sizes) {
  SmallVector<OpFoldResult> offsets, extents, ones;
  SmallVector<int64_t> kept;
  for (auto [at, size] : llvm::zip_equal(start, sizes)) {
    auto fixed = getConstantIntValue(at);
    offsets.push_back(fixed ? OpFoldResult(b.getIndexAttr(*fixed)) : OpFoldResult(at));
    extents.push_back(b.getIndexAttr(size == 0 ? 1 : size));
    ones.push_back(b.getIndexAttr(1));
    if (size != 0)
      kept.push_back(size);
  }
  auto type =
      memref::SubViewOp::inferRankReducedResultType(kept, cast<MemRefType>(tile.getType()), offsets, extents, ones);
  return memref::SubViewOp::create(b, loc, cast<MemRefType>(type), tile, offsets, extents, ones);
}

Value TileBuilder::scratch(ArrayRef<int64_t> sizes, Type element) {
  Value at = index(used);
  used += llvm::alignTo(bytesOf(sizes, element), alignment);
  peak = std::max(peak, used);
  return memref::ViewOp::create(b, loc, MemRefType::get(sizes, element), scratchArgument, at, ValueRange{});
}

void TileBuilder::withScratch(llvm::function_ref<void()> body) {
  int64_t before = used;
  body();
  used = before;
}

void TileBuilder::forEach(Value from, Value to, llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, from, to, index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void TileBuilder::forTiles(int64_t extent, int64_t step, llvm::function_ref<void(Value, int64_t)> body) {
  int64_t whole = extent / step * step;
  if (whole == step) {
    body(index(0), step);
  } else if (whole > 0) {
    auto loop = scf::ForOp::create(b, loc, index(0), index(whole), index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar(), step);
  }
  if (whole < extent)
    body(index(whole), extent - whole);
}

void TileBuilder::forTilesUpTo(Value limit, int64_t extent, int64_t step,
                               llvm::function_ref<void(Value, int64_t)> body) {
  int64_t whole = extent / step * step;
  if (whole > 0) {
    // A piece that starts below the limit is done whole: the loop's bound is the limit, its step the piece.
    Value end = arith::MinSIOp::create(b, loc, limit, index(whole));
    auto loop = scf::ForOp::create(b, loc, index(0), end, index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar(), step);
  }
  if (whole < extent) {
    Value reached = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, limit, index(whole));
    auto branch = scf::IfOp::create(b, loc, reached, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    body(index(whole), extent - whole);
  }
}

void TileBuilder::oneTile(Value number, int64_t extent, int64_t step, llvm::function_ref<void(Value, int64_t)> body) {
  const int64_t whole = extent / step, rest = extent % step;
  Value start = mul(number, step);
  if (rest == 0 || whole == 0)
    return withScratch([&] { body(start, whole == 0 ? rest : step); });
  Value full = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, number, index(whole));
  auto branch = scf::IfOp::create(b, loc, full, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  withScratch([&] { body(start, step); });
  b.setInsertionPointToStart(branch.elseBlock());
  withScratch([&] { body(start, rest); });
}

void TileBuilder::nest(int64_t loops, ArrayRef<Access> inputs, ArrayRef<Access> outputs, Body body) {
  SmallVector<AffineMap> maps;
  SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::parallel);
  auto mapOf = [&](const Access &access) {
    SmallVector<AffineExpr> dims;
    for (int64_t loop : access.loops)
      dims.push_back(b.getAffineDimExpr(loop));
    return AffineMap::get(loops, 0, dims, b.getContext());
  };
  SmallVector<Value> in, out;
  for (const Access &access : inputs) {
    maps.push_back(mapOf(access));
    in.push_back(access.tile);
  }
  for (const Access &access : outputs) {
    maps.push_back(mapOf(access));
    out.push_back(access.tile);
    for (int64_t loop = 0; loop < loops; ++loop)
      if (!llvm::is_contained(access.loops, loop))
        iterators[loop] = utils::IteratorType::reduction;
  }
  linalg::GenericOp::create(b, loc, in, out, maps, iterators, [&](OpBuilder &inner, Location at, ValueRange scalars) {
    SmallVector<Value> values(scalars.take_front(in.size()));
    for (Value &value : values)
      if (value.getType().isBF16())
        value = arith::ExtFOp::create(inner, at, inner.getF32Type(), value);
    SmallVector<Value> results = body(inner, at, values, scalars.drop_front(in.size()));
    for (auto [result, tile] : llvm::zip_equal(results, out))
      if (Type element = cast<MemRefType>(tile.getType()).getElementType();
          element.isBF16() && !result.getType().isBF16())
        result = inner.createOrFold<arith::TruncFOp>(at, element, result);
    linalg::YieldOp::create(inner, at, results);
    for (Value value : values) // rounding undoes it
      if (value.use_empty() && value.getDefiningOp())
        value.getDefiningOp()->erase();
  });
}

void TileBuilder::map(ArrayRef<Value> inputs, ArrayRef<Value> outputs,
                      llvm::function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange)> body) {
  int64_t rank = cast<MemRefType>(outputs.front().getType()).getRank();
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<Access> in, out;
  for (Value tile : inputs)
    in.push_back({tile, all});
  for (Value tile : outputs)
    out.push_back({tile, all});
  nest(rank, in, out, [&](OpBuilder &inner, Location at, ValueRange x, ValueRange) { return body(inner, at, x); });
}

void TileBuilder::fill(Value tile, Value scalar) {
  map({}, {tile}, [&](OpBuilder &, Location, ValueRange) { return SmallVector<Value>{scalar}; });
}

void TileBuilder::copy(Value from, Value to) {
  map({from}, {to}, [](OpBuilder &, Location, ValueRange x) { return SmallVector<Value>{x[0]}; });
}

void TileBuilder::contract(Value c, Value a, Value bTile, bool accumulate, Value ahead) {
  ContractOp::create(b, loc, c, a, bTile, ahead, accumulate);
}

void TileBuilder::pack(Value source, Value panels) { PackOp::create(b, loc, source, panels); }

// A gap lies between the rows: rows a power of two apart would share few sets of the nearest cache.
Value TileBuilder::inPairs(Value tile) {
  auto shape = cast<MemRefType>(tile.getType()).getShape();
  const int64_t rows = shape[0], depth = shape[1], even = llvm::alignTo(depth, 2);
  const Type bf16 = b.getBF16Type();
  const int64_t gap = target.getRowGap() / 2; // elements
  Value zero = index(0);
  Value pairs = part(scratch({rows, int64_t(llvm::alignTo(even, gap)) + gap}, bf16), {zero, zero}, {rows, even});
  copy(tile, part(pairs, {zero, zero}, {rows, depth}));
  if (even > depth)
    fill(part(pairs, {zero, index(depth)}, {rows, 1}), f32(0));
  return pairs;
}

} // namespace burin
