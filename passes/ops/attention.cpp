// attention: types, cost, adjoint and forward kernel; also what its gradient's kernel shares with it
// (attention_tiles.h).
#include "passes/ops/attention.h"

#include <cfloat>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/ops/add.h"
#include "passes/ops/attention_grad.h"
#include "passes/ops/attention_tiles.h"
#include "passes/ops/constant.h"
#include "passes/ops/greater_equal.h"
#include "passes/ops/mask.h"
#include "passes/ops/mul.h"
#include "passes/ops/scale.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace burin {

// ---- shapes

namespace {
ArrayRef<int64_t> sizesOf(Type tensor) { return cast<RankedTensorType>(tensor).getShape(); }

// Which of the scores' last two dimensions an extra operand varies along.
bool variesByQuery(Type extra, const AttentionShape &shape) {
  ArrayRef<int64_t> sizes = sizesOf(extra);
  return sizes.size() >= 2 && sizes[sizes.size() - 2] != 1 && shape.queries != 1;
}
bool variesByKey(Type extra, const AttentionShape &shape) {
  ArrayRef<int64_t> sizes = sizesOf(extra);
  return !sizes.empty() && sizes.back() != 1 && shape.keys != 1;
}
} // namespace

AttentionShape::AttentionShape(Type q, Type k, Type v)
    : leading(sizesOf(q).drop_back(2)), queries(sizesOf(q).drop_back().back()), keys(sizesOf(k).drop_back().back()),
      depth(sizesOf(q).back()), valueDepth(sizesOf(v).back()) {}

int64_t AttentionShape::heads() const { return llvm::product_of(leading); }

RankedTensorType AttentionShape::tensor(MLIRContext *context, ArrayRef<int64_t> last) const {
  SmallVector<int64_t> sizes(leading);
  sizes.append(last.begin(), last.end());
  return RankedTensorType::get(sizes, Float32Type::get(context));
}

// The numbers of the region's arguments that a value of it is made of.
static void argumentsOf(Value value, llvm::SetVector<unsigned> &numbers) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    numbers.insert(argument.getArgNumber());
  else
    for (Value operand : value.getDefiningOp()->getOperands())
      argumentsOf(operand, numbers);
}

LogicalResult checkAttentionTypes(std::optional<Location> location, Value q, Value k, Value v, ValueRange extras) {
  for (Value operand : {q, k, v}) {
    auto tensor = dyn_cast<RankedTensorType>(operand.getType());
    if (!tensor || !tensor.hasStaticShape() || tensor.getRank() < 2)
      return emitOptionalError(location, "attention takes q, k and v of the form [..., length, depth], found ",
                               operand.getType());
  }
  const AttentionShape shape(q.getType(), k.getType(), v.getType());
  MLIRContext *context = q.getContext();
  if (k.getType() != shape.tensor(context, {shape.keys, shape.depth}))
    return emitOptionalError(location, "attention's k must have q's leading dimensions and depth: q is ", q.getType(),
                             ", k ", k.getType());
  if (v.getType() != shape.tensor(context, {shape.keys, shape.valueDepth}))
    return emitOptionalError(location, "attention's v must have k's leading dimensions and length: k is ", k.getType(),
                             ", v ", v.getType());
  const RankedTensorType scores = shape.tensor(context, {shape.queries, shape.keys});
  for (Value extra : extras) {
    ArrayRef<int64_t> sizes = sizesOf(extra.getType());
    bool broadcasts = sizes.size() <= scores.getShape().size();
    if (broadcasts)
      for (auto [size, full] : llvm::zip(llvm::reverse(sizes), llvm::reverse(scores.getShape())))
        broadcasts &= size == 1 || size == full;
    if (!broadcasts)
      return emitOptionalError(location, "attention's extra operands must broadcast to the scores ", scores, ", found ",
                               extra.getType());
  }
  return success();
}

LogicalResult checkScoreRegion(Operation *op, Region &region, ValueRange extras, unsigned more, bool mayThin) {
  Block &block = region.front();
  if (block.getNumArguments() != 1 + extras.size() + more)
    return op->emitOpError("has a region of ")
           << block.getNumArguments() << " arguments, expected " << 1 + extras.size() + more;
  const Type f32 = Float32Type::get(op->getContext());
  for (auto [i, argument] : llvm::enumerate(block.getArguments())) {
    const Type element = i >= 1 && i <= extras.size() ? getElementTypeOrSelf(extras[i - 1]) : f32;
    if (argument.getType() != RankedTensorType::get({}, element))
      return op->emitOpError("has a region whose argument ")
             << i << " is " << argument.getType() << ", expected a scalar of " << element;
  }
  for (Operation &inner : block.without_terminator())
    if (!isa<Elementwise>(inner) || inner.getNumResults() != 1 || !sizesOf(inner.getResult(0).getType()).empty())
      return inner.emitOpError("is not element-wise work on one score");
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().empty() || yield.getValues().size() > (mayThin ? 2 : 1) ||
      llvm::any_of(yield.getValues(), [&](Value value) { return value.getType() != RankedTensorType::get({}, f32); }))
    return op->emitOpError("has a region that does not yield one f32 scalar");
  llvm::SetVector<unsigned> read;
  if (thinsWeights(region))
    argumentsOf(yield.getValues()[1], read);
  if (read.contains(0))
    return op->emitOpError("has a factor of the weights that depends on the score");
  return success();
}

// ---- masks

namespace {

// What a value of the score region varies with.
struct Dependence {
  bool score = false, query = false, key = false;
};

Dependence dependenceOf(Value value, ValueRange extras, const AttentionShape &shape) {
  Dependence all;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getArgNumber() == 0)
      return {.score = true, .query = true, .key = true};
    const Type extra = extras[argument.getArgNumber() - 1].getType();
    return {.score = false, .query = variesByQuery(extra, shape), .key = variesByKey(extra, shape)};
  }
  for (Value operand : value.getDefiningOp()->getOperands()) {
    const Dependence one = dependenceOf(operand, extras, shape);
    all.score |= one.score, all.query |= one.query, all.key |= one.key;
  }
  return all;
}

// All factors of a product of masks must be 1 for a score to be kept.
void collectFactors(Value keep, SmallVectorImpl<GreaterEqualOp> &factors) {
  if (auto product = keep.getDefiningOp<MulOp>()) {
    collectFactors(product.getLhs(), factors);
    collectFactors(product.getRhs(), factors);
  } else if (auto comparison = keep.getDefiningOp<GreaterEqualOp>()) {
    factors.push_back(comparison);
  }
}

// Follows a score back from where it is yielded, through what leaves -inf as it is.
void collectMasks(Value score, SmallVectorImpl<GreaterEqualOp> &factors) {
  if (auto mask = score.getDefiningOp<MaskOp>()) {
    collectFactors(mask.getKeep(), factors);
    collectMasks(mask.getScores(), factors);
  } else if (auto sum = score.getDefiningOp<AddOp>()) {
    collectMasks(sum.getLhs(), factors);
    collectMasks(sum.getRhs(), factors);
  } else if (auto scaled = score.getDefiningOp<ScaleOp>(); scaled && scaled.getFactor().convertToDouble() > 0) {
    collectMasks(scaled.getX(), factors);
  }
}

} // namespace

SmallVector<MaskCondition> maskConditions(Region &score, ValueRange extras, const AttentionShape &shape) {
  SmallVector<GreaterEqualOp> factors;
  collectMasks(score.front().getTerminator()->getOperand(0), factors);
  SmallVector<MaskCondition> conditions;
  for (GreaterEqualOp factor : factors) {
    // Positions are integers; bounds of floats would have to mind NaN.
    if (!getElementTypeOrSelf(factor.getLhs()).isInteger(32))
      continue;
    const Dependence left = dependenceOf(factor.getLhs(), extras, shape),
                     right = dependenceOf(factor.getRhs(), extras, shape);
    if (left.score || right.score)
      continue;
    if (!left.key && !right.query)
      conditions.push_back({factor.getLhs(), factor.getRhs(), /*leftIsQuery=*/true});
    else if (!left.query && !right.key)
      conditions.push_back({factor.getLhs(), factor.getRhs(), /*leftIsQuery=*/false});
  }
  return conditions;
}

Cost attentionCost(const AttentionShape &shape, Region &score, ValueRange extras, int64_t times) {
  // A query sees its own and the earlier keys: (T + 1) / 2 of T on the average. Several heads' queries may share them.
  const bool causal = shape.queries % shape.keys == 0 &&
                      llvm::any_of(maskConditions(score, extras, shape), [&](const MaskCondition &condition) {
                        return condition.leftIsQuery && dependenceOf(condition.left, extras, shape).query;
                      });
  const int64_t pairs = causal ? shape.queries * (shape.keys + 1) / 2 : shape.queries * shape.keys;
  // Beside the region's own work: maximum, difference, exponential, sum.
  const int64_t work = llvm::range_size(score.front().without_terminator()) + 4;
  return {.products = times * 2 * shape.heads() * pairs * (shape.depth + shape.valueDepth),
          .other = times * shape.heads() * pairs * work};
}

AttentionBlocks attentionBlocks(const AttentionShape &shape, Region &score, ValueRange extras, TargetAttr target,
                                int64_t buffers) {
  // Queries: as many as a contraction's panel holds, or somewhat fewer if they divide the length, since a shorter last
  // block is a second kernel body. The gradients of keys are products as deep as the block, so it is wider where the
  // sequence is so long that hidden scores of the blocks on the diagonal count little. Keys: the score blocks stay in
  // the nearest cache; where masks rule out blocks, there must be blocks to rule out.
  const int64_t lanes = target.getLanes();
  const bool deep = buffers > 1 && shape.queries >= 64 * lanes;
  const int64_t most = deep ? 4 : target.getPanelVectors();
  int64_t queries = std::min(shape.queries, lanes * most);
  for (int64_t vectors = most; vectors >= 2; --vectors)
    if (shape.queries % (lanes * vectors) == 0) {
      queries = lanes * vectors;
      break;
    }
  const int64_t step = llvm::alignTo(queries, lanes);
  int64_t keys = std::max(step, target.getL1() / int64_t(buffers * step * sizeof(float)) / step * step);
  if (!maskConditions(score, extras, shape).empty())
    keys = std::min(keys, std::max<int64_t>(step, shape.keys / 16 / step * step));
  return {queries, std::min(keys, shape.keys)};
}

// ---- one head

namespace {

// Computes `wanted` of a score region on scalars, `known` holding the arguments' and all values so far.
Value scalarOf(OpBuilder &b, Location loc, Value wanted, IRMapping &known) {
  if (Value value = known.lookupOrNull(wanted))
    return value;
  Operation *op = wanted.getDefiningOp();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(scalarOf(b, loc, operand, known));
  // A 0-d tensor has no last dimension to count along.
  Value result = cast<Elementwise>(op).scalar(b, loc, operands, [] { return Value(); });
  known.map(wanted, result);
  return result;
}

} // namespace

Value onScalars(OpBuilder &b, Location loc, Region &region, ValueRange arguments) {
  IRMapping known;
  known.map(region.front().getArguments(), arguments);
  return scalarOf(b, loc, region.front().getTerminator()->getOperand(0), known);
}

bool thinsWeights(Region &score) { return score.front().getTerminator()->getNumOperands() == 2; }

Value thinned(OpBuilder &b, Location loc, Region &score, ValueRange extras, Value x) {
  if (!thinsWeights(score))
    return x;
  IRMapping known;
  known.map(score.front().getArguments().drop_front(), extras);
  return arith::MulFOp::create(b, loc, scalarOf(b, loc, score.front().getTerminator()->getOperand(1), known), x);
}

Value larger(OpBuilder &b, Location loc, Value x, Value y) {
  Value greater = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, x, y);
  return arith::SelectOp::create(b, loc, greater, x, y);
}

AttentionHead::AttentionHead(TileBuilder &t, const AttentionShape &shape, Region &score, ValueRange extras,
                             ArrayRef<Stored> stored, Value head)
    : t(t), shape(shape), score(score), stored(stored), conditions(maskConditions(score, extras, shape)) {
  at.resize(shape.leading.size());
  for (int64_t i = shape.leading.size() - 1; i >= 0; --i) {
    at[i] = i == 0 ? head : Value(arith::RemUIOp::create(t.b, t.loc, head, t.index(shape.leading[i])));
    if (i > 0)
      head = arith::DivUIOp::create(t.b, t.loc, head, t.index(shape.leading[i]));
  }
}

Value AttentionHead::rows(const Stored &tensor, Value row, int64_t rows) const {
  SmallVector<Value> start(at);
  start.append({row, t.index(0)});
  SmallVector<int64_t> sizes(at.size(), 0);
  sizes.append({rows, tensor.where.sizes.back()});
  return t.tile(tensor, start, sizes);
}

Value AttentionHead::elements(const Stored &tensor, Value row, int64_t rows) const {
  SmallVector<Value> start(at);
  start.push_back(row);
  SmallVector<int64_t> sizes(at.size(), 0);
  sizes.push_back(rows);
  return t.tile(tensor, start, sizes);
}

Value AttentionHead::left(Value tile) const { return t.inBf16 ? t.inPairs(tile) : tile; }

Value AttentionHead::right(Value tile) const {
  auto type = cast<MemRefType>(tile.getType());
  if (t.inBf16)
    return packed(tile);
  if (type.getStridesAndOffset().first.back() == 1)
    return tile;
  Value copy = t.scratch(type.getShape(), t.b.getF32Type());
  t.copy(tile, copy);
  return copy;
}

Value AttentionHead::packed(Value tile) const {
  ArrayRef<int64_t> shape = cast<MemRefType>(tile.getType()).getShape();
  const int64_t pair = t.inBf16 ? 2 : 1, width = llvm::alignTo(shape[1], t.target.getLanes());
  Value panel = t.scratch({1, int64_t(llvm::divideCeil(shape[0], pair)), pair * width},
                          t.inBf16 ? Type(t.b.getBF16Type()) : t.b.getF32Type());
  t.pack(tile, panel);
  return panel;
}

Access AttentionHead::tileOf(unsigned extra, Value query, int64_t queries, Value key, int64_t keys, int64_t queryLoop,
                             int64_t keyLoop) const {
  const Stored &tensor = stored[extra];
  const int64_t rank = tensor.where.sizes.size(), missing = int64_t(at.size()) + 2 - rank;
  Access access;
  SmallVector<Value> start;
  SmallVector<int64_t> sizes;
  for (int64_t i = 0; i < rank; ++i) {
    const bool repeats = tensor.where.sizes[i] == 1;
    const int64_t dim = i + missing - int64_t(at.size()); // 0: queries, 1: keys, below: leading
    start.push_back(repeats ? t.index(0) : dim < 0 ? at[i + missing] : dim == 0 ? query : key);
    sizes.push_back(repeats || dim < 0 ? 0 : dim == 0 ? queries : keys);
    if (sizes.back() != 0)
      access.loops.push_back(dim == 0 ? queryLoop : keyLoop);
  }
  access.tile = t.tile(tensor, start, sizes);
  return access;
}

SmallVector<Access> AttentionHead::extraTiles(Value query, int64_t queries, Value key, int64_t keys) const {
  SmallVector<Access> tiles;
  for (unsigned i = 0; i < stored.size(); ++i)
    tiles.push_back(tileOf(i, query, queries, key, keys, /*queryLoop=*/1, /*keyLoop=*/0));
  return tiles;
}

// The largest or smallest that one side of a mask gets among `count` queries or keys.
Value AttentionHead::extremum(Value wanted, bool largest, Value start, int64_t count) const {
  llvm::SetVector<unsigned> arguments;
  argumentsOf(wanted, arguments);
  SmallVector<Access> tiles;
  for (unsigned argument : arguments)
    tiles.push_back(tileOf(argument - 1, start, count, start, count, 0, 0));
  if (llvm::all_of(tiles, [](const Access &access) { return access.loops.empty(); })) {
    // All of them get the same.
    IRMapping known;
    for (auto [argument, access] : llvm::zip(arguments, tiles))
      known.map(score.getArgument(argument), memref::LoadOp::create(t.b, t.loc, access.tile));
    return scalarOf(t.b, t.loc, wanted, known);
  }
  const Type i32 = t.b.getI32Type();
  Value bound;
  t.withScratch([&] {
    Value cell = t.scratch({}, i32);
    const int64_t neutral = largest ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int32_t>::max();
    memref::StoreOp::create(t.b, t.loc, arith::ConstantIntOp::create(t.b, t.loc, i32, neutral), cell);
    t.nest(1, tiles, {{cell, {}}},
           [&](OpBuilder &b, Location loc, ValueRange in, ValueRange out) -> SmallVector<Value> {
             IRMapping known;
             for (auto [argument, value] : llvm::zip(arguments, in))
               known.map(score.getArgument(argument), value);
             Value value = scalarOf(b, loc, wanted, known);
             if (largest)
               return {arith::MaxSIOp::create(b, loc, out[0], value)};
             return {arith::MinSIOp::create(b, loc, out[0], value)};
           });
    bound = memref::LoadOp::create(t.b, t.loc, cell);
  });
  return bound;
}

void AttentionHead::enterQueries(Value query, int64_t queries) {
  queryBounds.clear();
  for (const MaskCondition &condition : conditions)
    queryBounds.push_back(extremum(condition.leftIsQuery ? condition.left : condition.right,
                                   /*largest=*/condition.leftIsQuery, query, queries));
}

void AttentionHead::whereVisible(Value key, int64_t keys, llvm::function_ref<void()> body) const {
  Value visible;
  for (auto [condition, queryBound] : llvm::zip(conditions, queryBounds)) {
    Value keyBound = extremum(condition.leftIsQuery ? condition.right : condition.left,
                              /*largest=*/!condition.leftIsQuery, key, keys);
    Value reached =
        arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::sge, condition.leftIsQuery ? queryBound : keyBound,
                              condition.leftIsQuery ? keyBound : queryBound);
    visible = visible ? Value(arith::AndIOp::create(t.b, t.loc, visible, reached)) : reached;
  }
  if (!visible)
    return body();
  auto branch = scf::IfOp::create(t.b, t.loc, visible, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(t.b);
  t.b.setInsertionPointToStart(branch.thenBlock());
  body();
}

// ---- the op

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  const Value q = adaptor.getQ(), k = adaptor.getK(), v = adaptor.getV();
  if (failed(checkAttentionTypes(location, q, k, v, adaptor.getExtras())))
    return failure();
  const AttentionShape shape(q.getType(), k.getType(), v.getType());
  types.push_back(shape.tensor(context, {shape.queries, shape.valueDepth}));
  types.append(2, shape.tensor(context, {shape.queries}));
  return success();
}

LogicalResult AttentionOp::verifyRegions() {
  return checkScoreRegion(*this, getScore(), getExtras(), 0, /*mayThin=*/true);
}

Cost AttentionOp::cost() {
  return attentionCost({getQ().getType(), getK().getType(), getV().getType()}, getScore(), getExtras(), 1);
}

// Appends to a copy of the score region an argument for the gradient of what it yields, and yields the gradient of the
// score instead.
static void buildDerivative(Region &score, Region &derivative) {
  IRMapping copies;
  score.cloneInto(&derivative, copies);
  Block &block = derivative.front();
  Operation *yield = block.getTerminator();
  const Location loc = yield->getLoc();
  const Value yielded = yield->getOperand(0);

  llvm::DenseSet<Value> fromScore{block.getArgument(0)};
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator()) {
    ops.push_back(&op);
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return fromScore.contains(operand); }))
      fromScore.insert(op.getResult(0));
  }
  llvm::DenseMap<Value, Value> gradients{{yielded, block.addArgument(yielded.getType(), loc)}};
  OpBuilder b(yield);
  for (Operation *op : llvm::reverse(ops)) {
    const Value gradient = gradients.lookup(op->getResult(0));
    // An op without a derivative (a comparison with the score) passes nothing on.
    auto differentiable = dyn_cast<Differentiable>(op);
    if (!gradient || !differentiable)
      continue;
    auto needs = [&](Value operand) { return fromScore.contains(operand); };
    AdjointBuilder adjoint{b, op->getLoc(), needs};
    SmallVector<Value> operandGradients(op->getNumOperands());
    differentiable.adjoint(adjoint, gradient, operandGradients);
    for (auto [operand, more] : llvm::zip(op->getOperands(), operandGradients)) {
      if (!more || !fromScore.contains(operand))
        continue;
      Value &sum = gradients[operand];
      sum = sum ? adjoint.make<AddOp>(sum, more) : more;
    }
  }
  Value result = gradients.lookup(block.getArgument(0));
  if (!result)
    result = ConstantOp::create(b, loc, 0.0);
  yield->setOperands(result);
  for (Operation *op = yield->getPrevNode(), *before; op; op = before) {
    before = op->getPrevNode();
    if (op->use_empty())
      op->erase();
  }
}

// The statistics are functions of q and k too, but nothing else than the gradient reads them.
void AttentionOp::adjoint(AdjointBuilder &b, ValueRange resultGradients, MutableArrayRef<Value> operandGradients) {
  if (!resultGradients[0])
    return;
  auto gradient = AttentionGradOp::create(b.b, b.loc, getQ(), getK(), getV(), getOut(), getMaximum(), getRsum(),
                                          resultGradients[0], getExtras());
  IRMapping copies;
  getScore().cloneInto(&gradient.getScore(), copies);
  buildDerivative(getScore(), gradient.getDerivative());
  operandGradients[0] = gradient.getDq();
  operandGradients[1] = gradient.getDk();
  operandGradients[2] = gradient.getDv();
}

// ---- the kernel

static AttentionBlocks forwardBlocks(AttentionOp op, const AttentionShape &shape, TargetAttr target) {
  return attentionBlocks(shape, op.getScore(), op.getExtras(), target, /*buffers=*/1);
}

int64_t AttentionOp::cells(TargetAttr target) {
  const AttentionShape shape(getQ().getType(), getK().getType(), getV().getType());
  return shape.heads() * llvm::divideCeil(shape.queries, forwardBlocks(*this, shape, target).queries);
}

bool AttentionOp::takesBf16(unsigned operand) { return operand < 3; }

bool AttentionOp::givesBf16(unsigned result) { return result == 0; }

namespace {

// One block of queries against all keys: the running maximum and sum of each row are mended as key blocks come.
void attend(TileBuilder &t, AttentionOp op, const AttentionShape &shape, AttentionBlocks blocks, AttentionHead &head,
            ArrayRef<Stored> operands, ArrayRef<Stored> results, Value query, int64_t queries) {
  const Type f32 = t.b.getF32Type();
  const int64_t width = llvm::alignTo(queries, t.target.getLanes());
  const bool several = blocks.keys < shape.keys;
  Value qPanel = head.packed(t.transposed(head.rows(operands[0], query, queries)));
  Value sums = t.scratch({shape.valueDepth, width}, f32), zero = t.index(0);
  Value out = t.part(sums, {zero, zero}, {shape.valueDepth, queries}); // a lane is a query here, too
  Value maximum = t.scratch({queries}, f32), sum = t.scratch({queries}, f32), former = t.scratch({queries}, f32);
  Value scoreRows = t.scratch({blocks.keys, width}, f32);
  t.fill(out, t.f32(0));
  t.fill(sum, t.f32(0));
  // Not -inf: the difference of two would be NaN. A hidden score's e^(-inf - maximum) is 0 all the same.
  t.fill(maximum, t.f32(-FLT_MAX));
  head.enterQueries(query, queries);

  t.forTiles(shape.keys, blocks.keys, [&](Value key, int64_t keys) {
    head.whereVisible(key, keys, [&] {
      Value scores = t.part(scoreRows, {zero, zero}, {keys, queries});
      t.withScratch(
          [&] { t.contract(scores, head.left(head.rows(operands[1], key, keys)), qPanel, /*accumulate=*/false); });
      if (several)
        t.copy(maximum, former);
      const SmallVector<Access> extras = head.extraTiles(query, queries, key, keys);
      SmallVector<Access> inputs{{scores, {0, 1}}};
      inputs.append(extras);
      t.nest(2, inputs, {{scores, {0, 1}}, {maximum, {1}}},
             [&](OpBuilder &b, Location loc, ValueRange in, ValueRange now) {
               Value score = onScalars(b, loc, op.getScore(), in);
               return SmallVector<Value>{score, larger(b, loc, score, now[1])};
             });
      if (several) {
        // What was summed so far was relative to the former maximum.
        t.map({former, maximum, sum}, {former, sum}, [](OpBuilder &b, Location loc, ValueRange in) {
          Value factor = math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, in[0], in[1]));
          return SmallVector<Value>{factor, arith::MulFOp::create(b, loc, in[2], factor)};
        });
        t.nest(2, {{out, {0, 1}}, {former, {1}}}, {{out, {0, 1}}},
               [](OpBuilder &b, Location loc, ValueRange in, ValueRange) {
                 return SmallVector<Value>{arith::MulFOp::create(b, loc, in[0], in[1])};
               });
      }
      SmallVector<Access> weighed{{scores, {0, 1}}, {maximum, {1}}};
      if (thinsWeights(op.getScore()))
        weighed.append(extras);
      t.nest(2, weighed, {{scores, {0, 1}}, {sum, {1}}},
             [&](OpBuilder &b, Location loc, ValueRange in, ValueRange now) {
               Value weight = math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, in[0], in[1]));
               return SmallVector<Value>{thinned(b, loc, op.getScore(), in.drop_front(2), weight),
                                         arith::AddFOp::create(b, loc, now[1], weight)};
             });
      t.withScratch([&] {
        t.contract(out, head.left(t.transposed(head.rows(operands[2], key, keys))), head.right(scores),
                   /*accumulate=*/true);
      });
    });
  });

  Value rsum = head.elements(results[2], query, queries);
  t.copy(maximum, head.elements(results[1], query, queries));
  t.map({sum}, {sum}, [&](OpBuilder &b, Location loc, ValueRange in) {
    Value empty = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, in[0], t.f32(0));
    Value reciprocal = arith::DivFOp::create(b, loc, t.f32(1), in[0]);
    return SmallVector<Value>{arith::SelectOp::create(b, loc, empty, t.f32(0), reciprocal)};
  });
  t.copy(sum, rsum);
  t.nest(2, {{t.transposed(out), {0, 1}}, {sum, {0}}}, {{head.rows(results[0], query, queries), {0, 1}}},
         [](OpBuilder &b, Location loc, ValueRange in, ValueRange) {
           return SmallVector<Value>{arith::MulFOp::create(b, loc, in[0], in[1])};
         });
}

} // namespace

// A cell is a block of queries of one head.
void AttentionOp::tile(TileBuilder &t, Value cell, ArrayRef<Stored> operands, ArrayRef<Stored> results) {
  const AttentionShape shape(getQ().getType(), getK().getType(), getV().getType());
  const AttentionBlocks blocks = forwardBlocks(*this, shape, t.target);
  const int64_t perHead = llvm::divideCeil(shape.queries, blocks.queries);
  Value block = perHead == 1 ? t.index(0) : Value(arith::RemUIOp::create(t.b, t.loc, cell, t.index(perHead)));
  Value number = perHead == 1 ? cell : Value(arith::DivUIOp::create(t.b, t.loc, cell, t.index(perHead)));
  AttentionHead head(t, shape, getScore(), getExtras(), operands.drop_front(3), number);
  t.oneTile(block, shape.queries, blocks.queries, [&](Value query, int64_t queries) {
    attend(t, *this, shape, blocks, head, operands, results, query, queries);
  });
}

} // namespace burin

#include "passes/ops/attention.inc"
