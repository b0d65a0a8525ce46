// add: sum with broadcasting.
#include "ops/add.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/ir/infer.h"
#include "passes/ops/add.h"
#include "passes/ops/concat.h"
#include "passes/ops/constant.h"
#include "passes/ops/scalar.h"

using namespace mlir;

namespace burin {

template <typename Op> static Add rule(Op) { return {}; }

Value AddOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  const Scalar x(b, loc, operands[0]), y(b, loc, operands[1]);
  return x + y;
}

// dlhs = dy,  drhs = dy
void AddOp::adjoint(AdjointBuilder &b, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  Value dy = gradients[0];
  if (b.needs(getLhs()))
    operandGradients[0] = sumToType(b, dy, getLhs().getType());
  if (b.needs(getRhs()))
    operandGradients[1] = sumToType(b, dy, getRhs().getType());
}

static bool isZero(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isZero();
}

OpFoldResult AddOp::fold(FoldAdaptor) {
  if (isZero(getRhs()) && getLhs().getType() == getY().getType())
    return getLhs();
  if (isZero(getLhs()) && getRhs().getType() == getY().getType())
    return getRhs();
  return {};
}

namespace {
struct JoinConcats : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp add, PatternRewriter &rewriter) const override {
    auto lhs = add.getLhs().getDefiningOp<ConcatOp>(), rhs = add.getRhs().getDefiningOp<ConcatOp>();
    if (!lhs || !rhs || lhs.getY().getType() != rhs.getY().getType())
      return rewriter.notifyMatchFailure(add, "not two concats of one type");
    if (!lhs->hasOneUse() || !rhs->hasOneUse())
      return rewriter.notifyMatchFailure(add, "a concat has another reader");
    auto rowsOf = [](Value part) { return cast<RankedTensorType>(part.getType()).getDimSize(0); };
    SmallVector<std::pair<int64_t, Value>> placed; // first row, what stands there; zeros left out
    for (ConcatOp concat : {lhs, rhs}) {
      int64_t row = 0;
      for (Value part : concat.getParts()) {
        if (!isZero(part))
          placed.push_back({row, part});
        row += rowsOf(part);
      }
    }
    llvm::sort(placed, [](auto &x, auto &y) { return x.first < y.first; });
    auto whole = cast<RankedTensorType>(add.getY().getType());
    SmallVector<Value> parts;
    int64_t row = 0;
    auto fillTo = [&](int64_t next) {
      SmallVector<int64_t> sizes(whole.getShape());
      sizes[0] = next - row;
      if (sizes[0] > 0)
        parts.push_back(ConstantOp::create(rewriter, add.getLoc(), whole.clone(sizes), APFloat(0.0)));
      row = next;
    };
    for (auto [start, part] : placed)
      if (std::exchange(row, start + rowsOf(part)) > start)
        return rewriter.notifyMatchFailure(add, "both concats have something at one place");
    row = 0;
    for (auto [start, part] : placed) {
      fillTo(start);
      parts.push_back(part);
      row += rowsOf(part);
    }
    fillTo(whole.getDimSize(0));
    rewriter.replaceOpWithNewOp<ConcatOp>(add, parts);
    return success();
  }
};
} // namespace

void AddOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<JoinConcats>(context);
}

} // namespace burin

#include "passes/ops/add.inc"
