// burin-fuse-linear-loss: joins the last linear layer with the loss, so that logits exist for a few rows at a time.
#include "passes/fuse/not_fused.h"
#include "passes/ops/cross_entropy.h"
#include "passes/ops/linear_cross_entropy.h"
#include "passes/ops/matmul.h"
#include "passes/ops/reshape.h"
#include "passes/ops/transpose.h"
#include "passes/passes.h"

using namespace mlir;

namespace burin {

#define GEN_PASS_DEF_FUSELINEARLOSS
#include "passes/passes.h.inc"

namespace {

// Enough to make the logits small beside the rest, few enough that each product stays large: every chunk reads the
// weight, and its gradient, once more.
constexpr int64_t mostChunks = 8, rowsOfChunk = 256;

struct FuseLinearLossPass : impl::FuseLinearLossBase<FuseLinearLossPass> {
  using FuseLinearLossBase::FuseLinearLossBase;

  void runOnOperation() override {
    SmallVector<CrossEntropyOp> losses;
    int64_t activations = 0;
    getOperation().walk([&](Operation *op) {
      if (auto loss = dyn_cast<CrossEntropyOp>(op))
        losses.push_back(loss);
      // What is only seen otherwise takes no memory.
      if (!isa<View>(op))
        for (Type type : op->getResultTypes())
          activations += isa<RankedTensorType>(type) ? bytesOf(type) : 0;
    });
    for (CrossEntropyOp loss : losses)
      fuse(loss, activations);
  }

  void fuse(CrossEntropyOp loss, int64_t activations) {
    Value logits = loss.getLogits();
    auto reshape = logits.getDefiningOp<ReshapeOp>();
    if (reshape && reshape.getX().getType().getShape().back() == reshape.getType().getShape().back())
      logits = reshape.getX();
    else
      reshape = nullptr;
    auto product = logits.getDefiningOp<MatmulOp>();
    if (!product || product.getRhs().getType().getRank() != 2 || product.getTransposeA())
      return;
    const int64_t bytes = bytesOf(logits.getType());
    auto decline = [&](const Twine &why) { notFused(loss, "linear+loss", why, bytes); };
    if (!product->hasOneUse() || (reshape && !reshape->hasOneUse()))
      return decline("the logits have a second reader");
    if (!always && static_cast<double>(bytes) <= share * static_cast<double>(activations))
      return decline("the logits are " + Twine(100 * bytes / activations) + " % of all activations, and more than " +
                     Twine(static_cast<int64_t>(100 * share)) + " % would be worth it");
    const int64_t depth = product.getLhs().getType().getShape().back();
    const int64_t rows = product.getLhs().getType().getNumElements() / depth;
    if (!always && rows < 2 * rowsOfChunk)
      return decline("there are " + Twine(rows) + " rows, and chunks have at least " + Twine(rowsOfChunk));

    OpBuilder b(loss);
    auto reshaped = [&](Value value, ArrayRef<int64_t> shape) -> Value {
      if (cast<RankedTensorType>(value.getType()).getShape() == shape)
        return value;
      return ReshapeOp::create(b, loss.getLoc(), value, shape);
    };
    const int64_t chunks = std::min(always ? rows : rows / rowsOfChunk, mostChunks);
    Value x = reshaped(product.getLhs(), {rows, depth}), targets = reshaped(loss.getTargets(), {rows}),
          w = product.getRhs();
    if (!product.getTransposeB())
      w = TransposeOp::create(b, product.getLoc(), w, b.getDenseI64ArrayAttr({1, 0}));
    auto fusedOp = LinearCrossEntropyOp::create(b, loss.getLoc(), x, w, targets, chunks);
    loss.getResult().replaceAllUsesWith(fusedOp.getLoss());
    loss->erase();
    if (reshape)
      reshape->erase();
    product->erase();
    ++fused;
  }
};

} // namespace
} // namespace burin
