// attention_grad: types, cost and kernel. Its formulas are in the .td file.
#include "passes/ops/attention_grad.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/ops/attention_tiles.h"

using namespace mlir;

namespace burin {

LogicalResult AttentionGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  const Value q = adaptor.getQ(), k = adaptor.getK(), v = adaptor.getV();
  if (failed(checkAttentionTypes(location, q, k, v, adaptor.getExtras())))
    return failure();
  const AttentionShape shape(q.getType(), k.getType(), v.getType());
  const Type out = shape.tensor(q.getContext(), {shape.queries, shape.valueDepth}),
             row = shape.tensor(q.getContext(), {shape.queries});
  if (adaptor.getOut().getType() != out || adaptor.getDout().getType() != out)
    return emitOptionalError(location, "attention_grad's out and dout must be ", out);
  if (adaptor.getMaximum().getType() != row || adaptor.getRsum().getType() != row)
    return emitOptionalError(location, "attention_grad's maximum and rsum must be ", row);
  types.append({q.getType(), k.getType(), v.getType()});
  return success();
}

LogicalResult AttentionGradOp::verifyRegions() {
  if (failed(checkScoreRegion(*this, getScore(), getExtras(), 0, /*mayThin=*/true)))
    return failure();
  return checkScoreRegion(*this, getDerivative(), getExtras(), 1, /*mayThin=*/false);
}

// Four products; the scores, computed again, do not count.
Cost AttentionGradOp::cost() {
  return attentionCost({getQ().getType(), getK().getType(), getV().getType()}, getScore(), getExtras(), 2);
}

// Blocks of queries add to the gradients of all keys, so one cell does a whole head, in a fixed order.
int64_t AttentionGradOp::cells(TargetAttr) {
  return AttentionShape(getQ().getType(), getK().getType(), getV().getType()).heads();
}

bool AttentionGradOp::makesWholeMatrices() { return true; }

// All but the statistics and the extras. out and dout meet in a sum as well, which is what the weights' gradients, made
// of rounded values too, add up to.
bool AttentionGradOp::takesBf16(unsigned operand) { return operand < 4 || operand == 6; }

bool AttentionGradOp::givesBf16(unsigned) { return true; }

namespace {

// A gradient of one head that products are added to: in place, or in scratch where its columns are not adjacent or it
// is stored in bf16.
class Sum {
public:
  Sum(TileBuilder &t, Value result) : t(t), result(result) {
    auto type = cast<MemRefType>(result.getType());
    const bool isPlace = type.getElementType().isF32() && type.getStridesAndOffset().first.back() == 1;
    total = isPlace ? result : t.scratch(type.getShape(), t.b.getF32Type());
    t.fill(total, t.f32(0));
  }
  Value rows(Value row, int64_t count) {
    return t.part(total, {row, t.index(0)}, {count, cast<MemRefType>(total.getType()).getShape().back()});
  }
  void finish() {
    if (total != result)
      t.copy(total, result);
  }

private:
  TileBuilder &t;
  Value result, total;
};

} // namespace

void AttentionGradOp::tile(TileBuilder &t, Value cell, ArrayRef<Stored> operands, ArrayRef<Stored> results) {
  const AttentionShape shape(getQ().getType(), getK().getType(), getV().getType());
  // Two blocks live at a time: the scores, turned into p, and dout v^T, turned into ds.
  const AttentionBlocks blocks = attentionBlocks(shape, getScore(), getExtras(), t.target, /*buffers=*/2);
  const Stored &q = operands[0], &k = operands[1], &v = operands[2], &out = operands[3], &dout = operands[6];
  const Type f32 = t.b.getF32Type();
  AttentionHead head(t, shape, getScore(), getExtras(), operands.drop_front(7), cell);
  const Value zero = t.index(0);
  Sum dk(t, head.rows(results[1], zero, shape.keys)), dv(t, head.rows(results[2], zero, shape.keys));
  const int64_t most = llvm::alignTo(blocks.queries, t.target.getLanes());
  Value scoreRows = t.scratch({blocks.keys, most}, f32), gradientRows = t.scratch({blocks.keys, most}, f32);

  t.forTiles(shape.queries, blocks.queries, [&](Value query, int64_t queries) {
    t.withScratch([&] {
      Value qRows = head.rows(q, query, queries), doutRows = head.rows(dout, query, queries);
      Value qPanel = head.packed(t.transposed(qRows)), doutPanel = head.packed(t.transposed(doutRows));
      Value qRight = head.right(qRows), doutRight = head.right(doutRows);
      Value maximum = head.elements(operands[4], query, queries), rsum = head.elements(operands[5], query, queries);
      Value delta = t.scratch({queries}, f32);
      t.fill(delta, t.f32(0));
      t.nest(2, {{doutRows, {0, 1}}, {head.rows(out, query, queries), {0, 1}}}, {{delta, {0}}},
             [](OpBuilder &b, Location loc, ValueRange in, ValueRange now) {
               return SmallVector<Value>{math::FmaOp::create(b, loc, in[0], in[1], now[0])};
             });
      // A lane is a query: dq lies as (column, query) until it is whole.
      Value dq = t.part(t.scratch({shape.depth, most}, f32), {zero, zero}, {shape.depth, queries});
      t.fill(dq, t.f32(0));
      head.enterQueries(query, queries);

      t.forTiles(shape.keys, blocks.keys, [&](Value key, int64_t keys) {
        head.whereVisible(key, keys, [&] {
          t.withScratch([&] {
            Value scores = t.part(scoreRows, {zero, zero}, {keys, queries}),
                  gradients = t.part(gradientRows, {zero, zero}, {keys, queries});
            Value kRows = head.rows(k, key, keys);
            t.withScratch([&] {
              t.contract(scores, head.left(kRows), qPanel, /*accumulate=*/false);
              t.contract(gradients, head.left(head.rows(v, key, keys)), doutPanel, /*accumulate=*/false);
            });
            SmallVector<Access> inputs{
                {scores, {0, 1}}, {gradients, {0, 1}}, {maximum, {1}}, {rsum, {1}}, {delta, {1}}};
            inputs.append(head.extraTiles(query, queries, key, keys));
            t.nest(2, inputs, {{scores, {0, 1}}, {gradients, {0, 1}}},
                   [&](OpBuilder &b, Location loc, ValueRange in, ValueRange) {
                     SmallVector<Value> arguments{in[0]};
                     llvm::append_range(arguments, in.drop_front(5));
                     Value score = onScalars(b, loc, getScore(), arguments);
                     Value power = math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, score, in[2]));
                     Value weight = arith::MulFOp::create(b, loc, power, in[3]);
                     auto thin = [&](Value x) { return thinned(b, loc, getScore(), in.drop_front(5), x); };
                     arguments.push_back(
                         arith::MulFOp::create(b, loc, weight, arith::SubFOp::create(b, loc, thin(in[1]), in[4])));
                     return SmallVector<Value>{thin(weight), onScalars(b, loc, getDerivative(), arguments)};
                   });
            t.contract(dv.rows(key, keys), head.left(scores), doutRight, /*accumulate=*/true);
            t.contract(dk.rows(key, keys), head.left(gradients), qRight, /*accumulate=*/true);
            t.contract(dq, head.left(t.transposed(kRows)), head.right(gradients), /*accumulate=*/true);
          });
        });
      });
      t.copy(t.transposed(dq), head.rows(results[0], query, queries));
    });
  });
  dk.finish();
  dv.finish();
}

} // namespace burin

#include "passes/ops/attention_grad.inc"
