#include "codegen/cpu/tile.h"
#include "codegen/math/formulas.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/TargetParser/X86TargetParser.h"

namespace burin::cpu {

using namespace mlir;

// ---- tiles

namespace {
struct Flat {
  Value memref, offset;
};
} // namespace

static Flat flatten(const Emitter &e, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  Operation *op = memref.getDefiningOp();
  if (!op) {
    if (type.getRank() == 1 && type.getLayout().isIdentity())
      return {memref, e.index(0)};
    emitError(memref.getLoc()) << "internal error: " << type << " is not a flat buffer (please report)";
    return {};
  }
  auto start = [&](OpFoldResult offset) { return getValueOrCreateConstantIndexOp(e.b, e.loc, offset); };
  return llvm::TypeSwitch<Operation *, Flat>(op)
      .Case([&](memref::ReinterpretCastOp cast) {
        // Its offset counts from the buffer's first element, whatever the source's was.
        return Flat{flatten(e, cast.getSource()).memref, start(cast.getMixedOffsets()[0])};
      })
      .Case([&](memref::ViewOp view) {
        // Scratch is typed by its reader: the same bytes as one row.
        auto flat = MemRefType::get({type.getNumElements()}, type.getElementType());
        return Flat{memref::ViewOp::create(e.b, e.loc, flat, view.getSource(), view.getByteShift(), ValueRange()),
                    e.index(0)};
      })
      .Case([&](memref::SubViewOp part) {
        Flat source = flatten(e, part.getSource());
        SmallVector<int64_t> strides;
        int64_t offset = 0;
        if (!source.memref || failed(part.getSourceType().getStridesAndOffset(strides, offset)))
          return Flat{};
        for (auto [at, stride] : llvm::zip_equal(part.getMixedOffsets(), strides))
          source.offset = e.add(source.offset, e.mul(start(at), stride));
        return source;
      })
      .Case<memref::TransposeOp, memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(
          [&](auto view) { return flatten(e, view->getOperand(0)); })
      .Default([](Operation *other) {
        other->emitError() << "internal error: no view of a flat buffer (please report)";
        return Flat{};
      });
}

Tile resolveTile(OpBuilder &b, Location loc, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  Tile tile;
  int64_t offset = 0;
  if (!type.hasStaticShape() || failed(type.getStridesAndOffset(tile.strides, offset)) ||
      llvm::is_contained(tile.strides, ShapedType::kDynamic)) {
    emitError(loc) << "internal error: " << type << " has sizes or strides that are not static (please report)";
    return {};
  }
  Flat flat = flatten({b, loc}, memref);
  tile.flat = flat.memref;
  tile.offset = flat.offset;
  tile.sizes.assign(type.getShape().begin(), type.getShape().end());
  tile.element = type.getElementType();
  return tile;
}

TargetAttr kernelTarget(func::FuncOp function) {
  if (!function->hasAttr("burin.kernel"))
    return {};
  auto target = function->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>("burin.target");
  if (!target)
    function.emitError("internal error: the module has no burin.target (please report)");
  return target;
}

// Of x86, the CPUs with 8 lanes are those with AVX2 and FMA.
bool hasFma(TargetAttr target) { return target.getLanes() >= 8; }

bool hasBf16Dot(TargetAttr target) {
  SmallVector<StringRef> features, changes;
  StringRef cpu = target.getCpu().getValue();
  if (llvm::X86::parseArchX86(cpu) != llvm::X86::CK_None)
    llvm::X86::getFeaturesForCPU(cpu, features);
  bool has = llvm::is_contained(features, "avx512bf16");
  target.getFeatures().getValue().split(changes, ',');
  for (StringRef change : changes)
    if (change.drop_front(change.empty() ? 0 : 1) == "avx512bf16")
      has = change.starts_with("+");
  return has;
}

// ---- scalars

Value Emitter::index(int64_t value) const { return arith::ConstantIndexOp::create(b, loc, value); }

Value Emitter::add(Value x, Value y) const { return b.createOrFold<arith::AddIOp>(loc, x, y); }

Value Emitter::add(Value x, int64_t y) const { return y == 0 ? x : add(x, index(y)); }

Value Emitter::mul(Value x, int64_t factor) const {
  if (factor == 1)
    return x;
  return b.createOrFold<arith::MulIOp>(loc, x, index(factor));
}

Value Emitter::splat(Type type, double value) const { return burin::splat(b, loc, type, value); }

Type Emitter::lanesOf(Type element, int64_t lanes) const {
  return lanes == 1 ? element : Type(VectorType::get({lanes}, element));
}

Value Emitter::broadcast(Value scalar, int64_t lanes) const {
  if (lanes == 1)
    return scalar;
  auto type = VectorType::get({lanes}, scalar.getType());
  TypedAttr constant;
  if (matchPattern(scalar, m_Constant(&constant)))
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, static_cast<Attribute>(constant)));
  return vector::BroadcastOp::create(b, loc, type, scalar);
}

// ---- vectors

static Value firstLanesMask(const Emitter &e, int64_t lanes, int64_t active) {
  SmallVector<bool> mask(lanes, false);
  std::fill_n(mask.begin(), active, true);
  auto type = VectorType::get({lanes}, e.b.getI1Type());
  return arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, ArrayRef<bool>(mask)));
}

Value Emitter::load(Value flat, Value at, int64_t stride, int64_t lanes, int64_t active) const {
  Type element = cast<MemRefType>(flat.getType()).getElementType();
  if (lanes == 1 || stride == 0)
    return memref::LoadOp::create(b, loc, flat, at);
  auto type = VectorType::get({lanes}, element);
  if (stride == 1 && active == lanes)
    return vector::LoadOp::create(b, loc, type, flat, ValueRange{at});
  if (stride == 1)
    return vector::MaskedLoadOp::create(b, loc, type, flat, ValueRange{at}, firstLanesMask(*this, lanes, active),
                                        splat(type, 0));
  if (stride == 2 && active == lanes) {
    // The second vector starts one element early, so that it ends on the last element wanted.
    Value low = vector::LoadOp::create(b, loc, type, flat, ValueRange{at});
    Value high = vector::LoadOp::create(b, loc, type, flat, ValueRange{add(at, lanes - 1)});
    SmallVector<int64_t> even;
    for (int64_t i = 0; i < lanes; ++i)
      even.push_back(i < lanes / 2 ? 2 * i : 2 * i + 1);
    return vector::ShuffleOp::create(b, loc, low, high, even);
  }
  // One load a lane: gather instructions are no faster on x86 and do not exist on all of them.
  SmallVector<Value> elements(lanes);
  for (int64_t i = 0; i < lanes; ++i)
    elements[i] =
        i < active ? memref::LoadOp::create(b, loc, flat, add(at, i * stride)).getResult() : splat(element, 0);
  return vector::FromElementsOp::create(b, loc, type, elements);
}

void Emitter::store(Value value, Value flat, Value at, int64_t stride, int64_t active) const {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type) {
    memref::StoreOp::create(b, loc, value, flat, at);
    return;
  }
  int64_t lanes = type.getNumElements();
  if (stride == 1 && active == lanes) {
    vector::StoreOp::create(b, loc, value, flat, ValueRange{at});
  } else if (stride == 1) {
    vector::MaskedStoreOp::create(b, loc, flat, ValueRange{at}, firstLanesMask(*this, lanes, active), value);
  } else {
    for (int64_t i = 0; i < active; ++i)
      memref::StoreOp::create(b, loc, vector::ExtractOp::create(b, loc, value, i), flat, add(at, i * stride));
  }
}

Value Emitter::firstLanes(int64_t active, Value value, Value other) const {
  int64_t lanes = cast<VectorType>(value.getType()).getNumElements();
  return active == lanes
             ? value
             : arith::SelectOp::create(b, loc, firstLanesMask(*this, lanes, active), value, other).getResult();
}

// Three kinds of steps, each one instruction on x86 for each output: pairs of elements, pairs of pairs, then whole
// 128-bit blocks.
SmallVector<Value> Emitter::transpose(ArrayRef<Value> rows) const {
  int64_t lanes = rows.size();
  SmallVector<Value> now(rows);
  auto shuffle = [&](Value x, Value y, function_ref<int64_t(int64_t)> from) {
    SmallVector<int64_t> mask(lanes);
    for (int64_t i = 0; i < lanes; ++i)
      mask[i] = from(i);
    return vector::ShuffleOp::create(b, loc, x, y, mask).getResult();
  };
  // Within each block of `width` lanes, `unit` elements of x and of y take turns, read from the low or the high half of
  // the block.
  auto interleave = [&](Value x, Value y, int64_t unit, int64_t width, bool high) {
    return shuffle(x, y, [=](int64_t i) {
      int64_t block = i / width * width, within = i % width, turn = within / unit;
      int64_t source = block + (high ? width / 2 : 0) + turn / 2 * unit + within % unit;
      return turn % 2 ? lanes + source : source;
    });
  };
  if (lanes == 2)
    return {interleave(now[0], now[1], 1, 2, false), interleave(now[0], now[1], 1, 2, true)};

  // Rows 4q..4q+3 become vectors 4q+j whose block l holds column 4l+j of those rows.
  for (int64_t q = 0; q < lanes; q += 4) {
    Value low01 = interleave(now[q], now[q + 1], 1, 4, false), high01 = interleave(now[q], now[q + 1], 1, 4, true);
    Value low23 = interleave(now[q + 2], now[q + 3], 1, 4, false),
          high23 = interleave(now[q + 2], now[q + 3], 1, 4, true);
    now[q] = interleave(low01, low23, 2, 4, false);
    now[q + 1] = interleave(low01, low23, 2, 4, true);
    now[q + 2] = interleave(high01, high23, 2, 4, false);
    now[q + 3] = interleave(high01, high23, 2, 4, true);
  }
  // What is left is a transpose of blocks: block l of vector 4q+j goes to block q of vector 4l+j.
  int64_t blocks = lanes / 4;
  auto pick = [&](Value x, Value y, ArrayRef<int64_t> order) { // the first half of the blocks from x, the rest from y
    return shuffle(x, y, [&](int64_t i) {
      int64_t block = i / 4;
      return (block < blocks / 2 ? 0 : lanes) + order[block] * 4 + i % 4;
    });
  };
  SmallVector<Value> result(now);
  if (blocks == 2) {
    for (int64_t j = 0; j < 4; ++j) {
      result[j] = pick(now[j], now[4 + j], {0, 0});
      result[4 + j] = pick(now[j], now[4 + j], {1, 1});
    }
  } else if (blocks == 4) {
    for (int64_t j = 0; j < 4; ++j) {
      Value low01 = pick(now[j], now[4 + j], {0, 1, 0, 1}), high01 = pick(now[j], now[4 + j], {2, 3, 2, 3});
      Value low23 = pick(now[8 + j], now[12 + j], {0, 1, 0, 1}), high23 = pick(now[8 + j], now[12 + j], {2, 3, 2, 3});
      result[j] = pick(low01, low23, {0, 2, 0, 2});
      result[4 + j] = pick(low01, low23, {1, 3, 1, 3});
      result[8 + j] = pick(high01, high23, {0, 2, 0, 2});
      result[12 + j] = pick(high01, high23, {1, 3, 1, 3});
    }
  }
  return result;
}

Value Emitter::reduce(Value vector, Combine combine) const {
  auto type = dyn_cast<VectorType>(vector.getType());
  if (!type)
    return vector;
  for (int64_t lanes = type.getNumElements() / 2; lanes >= 1; lanes /= 2) {
    SmallVector<int64_t> low(lanes), high(lanes);
    for (int64_t i = 0; i < lanes; ++i) {
      low[i] = i;
      high[i] = lanes + i;
    }
    if (lanes == 1)
      return combine(vector::ExtractOp::create(b, loc, vector, 0), vector::ExtractOp::create(b, loc, vector, 1));
    vector = combine(vector::ShuffleOp::create(b, loc, vector, vector, low),
                     vector::ShuffleOp::create(b, loc, vector, vector, high));
  }
  return vector;
}

SmallVector<Value> Emitter::loop(int64_t count, int64_t step, ValueRange carried, Body body) const {
  if (count == 0)
    return SmallVector<Value>(carried);
  if (count <= step)
    return body(index(0), carried);
  auto loop = scf::ForOp::create(b, loc, index(0), index(count), index(step), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(b, loc, results);
  return SmallVector<Value>(loop.getResults());
}

} // namespace burin::cpu
