// linear_cross_entropy: types, cost, adjoint and the chunks it stands for. See the .td file.
#include "passes/ops/linear_cross_entropy.h"

#include "mlir/IR/Dominance.h"
#include "ops/cross_entropy.h"
#include "ops/matmul.h"
#include "passes/ir/infer.h"
#include "passes/ops/add.h"
#include "passes/ops/after.h"
#include "passes/ops/concat.h"
#include "passes/ops/constant.h"
#include "passes/ops/cross_entropy.h"
#include "passes/ops/matmul.h"
#include "passes/ops/mul.h"
#include "passes/ops/slice.h"
#include "passes/ops/where.h"

using namespace mlir;

namespace burin {

LogicalResult LinearCrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                     SmallVectorImpl<Type> &types) {
  const Type x = adaptor.getX().getType(), w = adaptor.getW().getType();
  return catchModelError(location, [&] {
    check(shapeOf(x).rank() == 2 && shapeOf(w).rank() == 2, "linear_cross_entropy takes two matrices", "x", shapeOf(x),
          "w", shapeOf(w));
    const Shape logits = Matmul{.transpose_b = true}.shape(shapeOf(x), shapeOf(w));
    CrossEntropy::shape(logits, shapeOf(adaptor.getTargets().getType()));
    const int64_t chunks = adaptor.getChunks();
    check(1 <= chunks && chunks <= logits[0], "the chunks of rows must be at least 1 and at most the rows", "chunks",
          chunks, "rows", logits[0]);
    types.append({RankedTensorType::get({}, Float32Type::get(x.getContext())), x, w});
  });
}

// With the gradients, where somebody reads them.
Cost LinearCrossEntropyOp::cost() {
  const Shape x = shapeOf(getX().getType()), w = shapeOf(getW().getType());
  const int64_t product = Matmul{.transpose_b = true}.cost(x, w).products;
  const Shape logits = {x[0], w[0]};
  Cost cost = {.products = product, .other = CrossEntropy::cost(logits, {x[0]}).other};
  for (Value gradient : {getDx(), getDw()})
    if (!gradient.use_empty())
      cost.products += product;
  return cost;
}

namespace {

// What becomes of dw: scaled, and added to the weight's former gradient unless that is to be overwritten.
//   scaled = factor * dw,  total = where(overwrite, scaled, former + scaled)
// Done chunk by chunk, everything is added in the former gradient's place, and no dw of the table's size waits for the
// last chunk.
struct Accumulation {
  MulOp scaled;
  Value factor, former, overwrite;
  WhereOp total;
};

std::optional<Accumulation> accumulationOf(LinearCrossEntropyOp loss) {
  const DominanceInfo dominance;
  auto known = [&](Value value) { return dominance.properlyDominates(value, loss); };
  if (!loss.getDw().hasOneUse())
    return std::nullopt;
  auto scaled = dyn_cast<MulOp>(*loss.getDw().getUsers().begin());
  if (!scaled)
    return std::nullopt;
  Value factor = scaled.getLhs() == loss.getDw() ? scaled.getRhs() : scaled.getLhs();
  if (cast<RankedTensorType>(factor.getType()).getRank() != 0 || !known(factor))
    return std::nullopt;
  for (Operation *user : scaled->getUsers()) {
    auto total = dyn_cast<WhereOp>(user);
    auto added = total ? total.getRhs().getDefiningOp<AddOp>() : nullptr;
    if (!added || total.getLhs() != scaled || added.getRhs() != scaled || !added->hasOneUse() ||
        llvm::range_size(scaled->getUses()) != 2 || !known(added.getLhs()) || !known(total.getCondition()))
      continue;
    return Accumulation{scaled, factor, added.getLhs(), total.getCondition(), total};
  }
  return std::nullopt;
}

} // namespace

SmallVector<Value> LinearCrossEntropyOp::expand(OpBuilder &b) {
  const Location loc = getLoc();
  const int64_t rows = getX().getType().getDimSize(0), chunks = getChunks();
  const bool needsX = !getDx().use_empty(), needsW = !getDw().use_empty();
  AdjointBuilder adjoint{b, loc, [](Value) { return true; }};
  auto sum = [&](Value x, Value y) { return x ? adjoint.make<AddOp>(x, y) : y; };
  std::optional<Accumulation> accumulation = needsW ? accumulationOf(*this) : std::nullopt;
  Value loss, dw;
  SmallVector<Value> dx;
  int64_t start = 0;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    // The first rows % chunks pieces are one row longer.
    const int64_t size = rows / chunks + (chunk < rows % chunks);
    // Each chunk waits for the one before, all of it: side by side they would keep the logits of all chunks.
    Value former = needsW ? dw : needsX && !dx.empty() ? dx.back() : loss;
    auto part = [&](Value whole) {
      Value cut = chunks == 1 ? whole : adjoint.make<SliceOp>(whole, start, size);
      return former ? adjoint.make<AfterOp>(former, cut) : cut;
    };
    Value x = part(getX()), targets = part(getTargets());
    auto logits = MatmulOp::create(b, loc, x, getW(), /*transpose_a=*/false, /*transpose_b=*/true);
    auto chunkLoss = CrossEntropyOp::create(b, loc, logits, targets);
    loss = sum(loss, chunkLoss);
    start += size;
    if (!needsX && !needsW)
      continue;
    SmallVector<Value> toLoss(2), toProduct(2);
    chunkLoss.adjoint(adjoint, adjoint.make<ConstantOp>(1.0), toLoss);
    AdjointBuilder needed{b, loc, [&](Value operand) { return operand == x ? needsX : needsW; }};
    logits.adjoint(needed, toLoss[0], toProduct);
    if (needsX)
      dx.push_back(toProduct[0]);
    if (!needsW)
      continue;
    Value more = toProduct[1];
    if (accumulation)
      more = adjoint.make<MulOp>(more, accumulation->factor);
    if (accumulation && !dw)
      dw = adjoint.make<WhereOp>(accumulation->overwrite, more, adjoint.make<AddOp>(accumulation->former, more));
    else
      dw = sum(dw, more);
  }
  if (accumulation) {
    accumulation->total->getResult(0).replaceAllUsesWith(dw);
    for (Operation *op : {accumulation->total.getOperation(), accumulation->total.getRhs().getDefiningOp(),
                          accumulation->scaled.getOperation()})
      op->erase();
    dw = getW(); // nobody is left who reads it
  }
  // A gradient that nobody reads may be any value of its type.
  Value allDx = !needsX ? getX() : dx.size() == 1 ? dx[0] : adjoint.make<ConcatOp>(dx);
  return {loss, allDx, needsW ? dw : getW()};
}

// dx = dloss * dx,  dw = dloss * dw
void LinearCrossEntropyOp::adjoint(AdjointBuilder &b, ValueRange resultGradients,
                                   MutableArrayRef<Value> operandGradients) {
  Value dloss = resultGradients[0];
  if (b.needs(getX()))
    operandGradients[0] = b.make<MulOp>(dloss, getDx());
  if (b.needs(getW()))
    operandGradients[1] = b.make<MulOp>(dloss, getDw());
}

} // namespace burin

#include "passes/ops/linear_cross_entropy.inc"
