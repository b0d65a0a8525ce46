#include "codegen/gpu/tile.h"

#include <numeric>

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace burin::gpu {

using namespace mlir;

// ---- tiles

int64_t Tile::span() const {
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip_equal(sizes, strides))
    last += (size - 1) * std::abs(stride);
  return last + 1;
}

bool isKernel(func::FuncOp function) { return function->hasAttr("burin.kernel"); }

StringRef launchedName(Operation *kernel) {
  auto of = kernel->getAttrOfType<StringAttr>(variantOfName);
  return of ? of.getValue() : SymbolTable::getSymbolName(kernel).getValue();
}

Operation *memoryOf(Value memref) {
  Operation *op = memref.getDefiningOp();
  while (op && !isa<UnrealizedConversionCastOp>(op))
    op = op->getNumOperands() > 0 ? op->getOperand(0).getDefiningOp() : nullptr;
  return op;
}

int64_t divisorOf(Value index) {
  if (auto constant = getConstantIntValue(index))
    return std::abs(*constant);
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return 1;
    auto step = getConstantIntValue(loop.getStep());
    return step ? std::gcd(divisorOf(loop.getLowerBound()), *step) : 1;
  }
  return llvm::TypeSwitch<Operation *, int64_t>(index.getDefiningOp())
      .Case<arith::AddIOp, arith::SubIOp>(
          [](auto op) { return std::gcd(divisorOf(op.getLhs()), divisorOf(op.getRhs())); })
      .Case([](arith::MulIOp op) {
        int64_t x = divisorOf(op.getLhs()), y = divisorOf(op.getRhs());
        // More than is ever asked for, and no overflow.
        return std::min<int64_t>(x, 1 << 20) * std::min<int64_t>(y, 1 << 20);
      })
      .Case<arith::RemUIOp, arith::RemSIOp>(
          [](auto op) { return std::gcd(divisorOf(op.getLhs()), divisorOf(op.getRhs())); })
      .Case([](arith::SelectOp op) { return std::gcd(divisorOf(op.getTrueValue()), divisorOf(op.getFalseValue())); })
      .Default([](Operation *) { return 1; });
}

namespace {
// A place in a flat memory: elements after its start.
struct Place {
  Operation *memory = nullptr;
  SmallVector<std::pair<Value, int64_t>> terms; // index * factor
  int64_t constant = 0;
};
} // namespace

static void addTerm(Place &place, OpFoldResult index, int64_t factor) {
  if (auto constant = getConstantIntValue(index))
    place.constant += *constant * factor;
  else
    place.terms.push_back({cast<Value>(index), factor});
}

static Place placeOf(Value memref) {
  Operation *op = memref.getDefiningOp();
  if (!op) {
    emitError(memref.getLoc()) << "internal error: " << memref.getType() << " is no memory (please report)";
    return {};
  }
  return llvm::TypeSwitch<Operation *, Place>(op)
      .Case([&](UnrealizedConversionCastOp cast) {
        Place place;
        place.memory = cast;
        return place;
      })
      .Case([&](memref::ReinterpretCastOp cast) {
        // Its offset counts from the buffer's first element, whatever the source's was.
        Place place;
        place.memory = placeOf(cast.getSource()).memory;
        addTerm(place, cast.getMixedOffsets()[0], 1);
        return place;
      })
      .Case([&](memref::SubViewOp part) {
        Place place = placeOf(part.getSource());
        SmallVector<int64_t> strides;
        int64_t offset = 0;
        if (!place.memory || failed(part.getSourceType().getStridesAndOffset(strides, offset)))
          return Place{};
        for (auto [at, stride] : llvm::zip_equal(part.getMixedOffsets(), strides))
          addTerm(place, at, stride);
        return place;
      })
      .Case<memref::TransposeOp, memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(
          [&](auto view) { return placeOf(view->getOperand(0)); })
      .Default([](Operation *other) {
        other->emitError() << "internal error: no view of a flat buffer (please report)";
        return Place{};
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
  Place place = placeOf(memref);
  if (!place.memory)
    return {};
  tile.sizes.assign(type.getShape().begin(), type.getShape().end());
  tile.element = type.getElementType();
  Value pointer = place.memory->getOperand(0);
  tile.shared = cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace() == sharedSpace;

  // Indices of the device's memory may be beyond 32 bits.
  Emitter e{b, loc, b.getI64Type()};
  Value start;
  int64_t divisor = place.constant;
  for (auto [index, factor] : place.terms) {
    divisor = std::gcd(divisor, divisorOf(index) * factor);
    Value term = e.mul(arith::IndexCastOp::create(b, loc, b.getI64Type(), index), factor);
    start = start ? e.add(start, term) : term;
  }
  start = start ? e.add(start, place.constant) : e.constant(place.constant);
  tile.base = e.at(pointer, tile.element, start);
  // Every memory starts at a multiple of 64 bytes: passes/plan and the scratch of a kernel see to that.
  tile.alignment = std::gcd<int64_t>(64, divisor * tile.elementBytes());
  return tile;
}

int64_t stagingBytes(Operation *op) {
  if (auto contract = dyn_cast<ContractOp>(op))
    return contractStagingBytes(contract);
  // Partial results, one of each thread.
  auto nest = dyn_cast<linalg::GenericOp>(op);
  if (!nest || nest.getNumReductionLoops() == 0)
    return 0;
  int64_t accumulated = llvm::count_if(nest.getDpsInitsMutable(), [&](OpOperand &output) {
    return nest.getMatchingIndexingMap(&output).getNumResults() < nest.getNumLoops();
  });
  return accumulated * threads * 4;
}

// ---- numbers

Type Emitter::numberType() const { return number ? number : b.getI32Type(); }

Value Emitter::constant(int64_t value) const { return arith::ConstantIntOp::create(b, loc, numberType(), value); }

Value Emitter::add(Value x, Value y) const { return b.createOrFold<arith::AddIOp>(loc, x, y); }

Value Emitter::add(Value x, int64_t y) const { return y == 0 ? x : add(x, constant(y)); }

Value Emitter::sub(Value x, Value y) const { return b.createOrFold<arith::SubIOp>(loc, x, y); }

Value Emitter::mul(Value x, int64_t factor) const {
  return factor == 1 ? x : b.createOrFold<arith::MulIOp>(loc, x, constant(factor));
}

Value Emitter::div(Value x, int64_t by) const {
  return by == 1 ? x : b.createOrFold<arith::DivUIOp>(loc, x, constant(by));
}

Value Emitter::rem(Value x, int64_t by) const {
  return by == 1 ? constant(0) : b.createOrFold<arith::RemUIOp>(loc, x, constant(by));
}

Value Emitter::min(Value x, int64_t y) const { return b.createOrFold<arith::MinUIOp>(loc, x, constant(y)); }

Value Emitter::less(Value x, int64_t y) const { return less(x, constant(y)); }

Value Emitter::less(Value x, Value y) const {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, x, y);
}

Value Emitter::both(Value x, Value y) const { return !x ? y : !y ? x : b.createOrFold<arith::AndIOp>(loc, x, y); }

Value Emitter::zeroOf(Type type, double value) const {
  TypedAttr attribute = isa<FloatType>(type) ? TypedAttr(FloatAttr::get(type, value))
                                             : TypedAttr(IntegerAttr::get(type, static_cast<int64_t>(value)));
  return arith::ConstantOp::create(b, loc, attribute);
}

// ---- threads and memory

Value Emitter::thread() const {
  auto range = LLVM::ConstantRangeAttr::get(b.getContext(), 32, 0, threads);
  Value thread = NVVM::ThreadIdXOp::create(b, loc, b.getI32Type(), range);
  return numberType().isInteger(32) ? thread : arith::ExtUIOp::create(b, loc, numberType(), thread).getResult();
}

Value Emitter::at(Value pointer, Type element, Value index) const {
  if (auto constant = getConstantIntValue(index))
    return at(pointer, element, *constant);
  return LLVM::GEPOp::create(b, loc, pointer.getType(), element, pointer, ValueRange{index});
}

Value Emitter::at(Value pointer, Type element, int64_t index) const {
  if (index == 0)
    return pointer;
  if (index != static_cast<int32_t>(index)) {
    Value wide = arith::ConstantIntOp::create(b, loc, b.getI64Type(), index);
    return LLVM::GEPOp::create(b, loc, pointer.getType(), element, pointer, ValueRange{wide});
  }
  return LLVM::GEPOp::create(b, loc, pointer.getType(), element, pointer,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
}

Value Emitter::load(Type type, Value pointer, int64_t alignment) const {
  return LLVM::LoadOp::create(b, loc, type, pointer, static_cast<unsigned>(alignment));
}

void Emitter::store(Value value, Value pointer, int64_t alignment) const {
  LLVM::StoreOp::create(b, loc, value, pointer, static_cast<unsigned>(alignment));
}

static bool isOneAccess(Type element, int64_t count, int64_t alignment) {
  return count > 1 && alignment % (count * element.getIntOrFloatBitWidth() / 8) == 0;
}

SmallVector<Value> Emitter::loadRun(Type element, Value pointer, int64_t count, int64_t alignment) const {
  SmallVector<Value> values;
  if (!isOneAccess(element, count, alignment)) {
    for (int64_t i = 0; i < count; ++i)
      values.push_back(load(element, at(pointer, element, i)));
    return values;
  }
  Value all = load(VectorType::get({count}, element), pointer, count * element.getIntOrFloatBitWidth() / 8);
  for (int64_t i = 0; i < count; ++i) {
    Value place = arith::ConstantIntOp::create(b, loc, b.getI32Type(), i);
    values.push_back(LLVM::ExtractElementOp::create(b, loc, all, place));
  }
  return values;
}

void Emitter::storeRun(ValueRange values, Value pointer, int64_t alignment) const {
  const Type element = values.front().getType();
  const int64_t count = static_cast<int64_t>(values.size());
  if (!isOneAccess(element, count, alignment)) {
    for (int64_t i = 0; i < count; ++i)
      store(values[i], at(pointer, element, i));
    return;
  }
  Value all = LLVM::PoisonOp::create(b, loc, VectorType::get({count}, element));
  for (int64_t i = 0; i < count; ++i) {
    Value place = arith::ConstantIntOp::create(b, loc, b.getI32Type(), i);
    all = LLVM::InsertElementOp::create(b, loc, all, values[i], place);
  }
  store(all, pointer, count * element.getIntOrFloatBitWidth() / 8);
}

Value Emitter::staging() const {
  return LLVM::AddressOfOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), sharedSpace), sharedName);
}

void Emitter::barrier() const { NVVM::Barrier0Op::create(b, loc); }

Value Emitter::fromLane(Value value, int64_t bit) const {
  Value all = arith::ConstantIntOp::create(b, loc, b.getI32Type(), -1),
        distance = arith::ConstantIntOp::create(b, loc, b.getI32Type(), bit),
        clamp = arith::ConstantIntOp::create(b, loc, b.getI32Type(), lanesOfWarp - 1);
  return NVVM::ShflOp::create(b, loc, value.getType(), all, value, distance, clamp, NVVM::ShflKind::bfly, UnitAttr());
}

// ---- control flow

SmallVector<Value> Emitter::loop(Value from, Value to, int64_t step, ValueRange carried, Body body) const {
  auto loop = scf::ForOp::create(b, loc, from, to, constant(step), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(b, loc, results);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> Emitter::loop(int64_t from, int64_t to, int64_t step, ValueRange carried, Body body) const {
  if (from >= to)
    return SmallVector<Value>(carried);
  if (to - from <= step)
    return body(constant(from), carried);
  return loop(constant(from), constant(to), step, carried, body);
}

void Emitter::keepRolled(ValueRange results) const {
  auto loop = results.empty() ? scf::ForOp() : results.front().getDefiningOp<scf::ForOp>();
  if (loop) // the attribute goes with the branch back, by this name
    loop->setAttr("loop_annotation",
                  parseAttribute("#llvm.loop_annotation<unroll = <disable = true>>", b.getContext()));
}

SmallVector<Value> Emitter::when(Value condition, ValueRange otherwise,
                                 llvm::function_ref<SmallVector<Value>()> body) const {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(b, loc, otherwise.getTypes(), condition, /*withElseRegion=*/!otherwise.empty());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> results = body();
  if (!otherwise.empty()) {
    scf::YieldOp::create(b, loc, results);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, otherwise);
  }
  return SmallVector<Value>(branch.getResults());
}

void Emitter::when(Value condition, llvm::function_ref<void()> body) const {
  when(condition, ValueRange{}, [&] {
    body();
    return SmallVector<Value>{};
  });
}

void Emitter::shareOut(int64_t count, llvm::function_ref<void(Value)> body) const {
  if (count == threads)
    return body(thread());
  if (count < threads)
    return when(less(thread(), count), [&] { body(thread()); });
  if (count % threads == 0) { // a known number of turns, which LLVM unrolls
    loop(0, count / threads, 1, {}, [&](Value turn, ValueRange) {
      body(add(thread(), mul(turn, threads)));
      return SmallVector<Value>{};
    });
    return;
  }
  loop(thread(), constant(count), threads, {}, [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>{};
  });
}

SmallVector<Value> Emitter::digits(Value number, ArrayRef<int64_t> extents) const {
  SmallVector<Value> result(extents.size());
  for (size_t i = extents.size(); i-- > 0;) {
    result[i] = i == 0 ? number : rem(number, extents[i]);
    number = div(number, extents[i]);
  }
  return result;
}

} // namespace burin::gpu
