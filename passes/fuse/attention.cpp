// burin-fuse-attention: finds softmax(f(q k^T)) v and makes it one op that holds f, whatever element-wise work f is;
// also where a factor that no score reaches (dropout) comes between the softmax and v.
#include "passes/ops/attention.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/fuse/not_fused.h"
#include "passes/ops/matmul.h"
#include "passes/ops/mul.h"
#include "passes/ops/reshape.h"
#include "passes/ops/softmax.h"
#include "passes/ops/transpose.h"
#include "passes/passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace burin {

#define GEN_PASS_DEF_FUSEATTENTION
#include "passes/passes.h.inc"

namespace {

ArrayRef<int64_t> sizesOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

// A reshape of the leading dimensions alone, or the identity: each matrix of scores stays what it is.
bool keepsMatrices(Operation *op) {
  if (!isa_and_present<View>(op) || isa<TransposeOp>(op))
    return false;
  ArrayRef<int64_t> from = sizesOf(op->getOperand(0)), to = sizesOf(op->getResult(0));
  return from.size() >= 2 && to.size() >= 2 && from.take_back(2) == to.take_back(2);
}

// Element-wise work that can be done on one score at a time: the result is the operands' broadcast and one number
// suffices of each.
bool isPointwise(Operation *op) {
  if (!isa_and_present<Elementwise>(op) || op->getNumResults() != 1)
    return false;
  if (!isa<Differentiable>(op) && !op->hasTrait<NoDerivative>())
    return false;
  ArrayRef<int64_t> result = sizesOf(op->getResult(0));
  SmallVector<int64_t> joined(result.size(), 1);
  for (Value operand : op->getOperands()) {
    ArrayRef<int64_t> sizes = sizesOf(operand);
    if (sizes.size() > result.size())
      return false;
    for (auto [size, all] : llvm::zip(llvm::reverse(sizes), llvm::reverse(joined)))
      all = std::max(all, size);
  }
  // An op without operands makes its elements out of nothing, and a scalar is not worth an operand.
  return op->getNumOperands() == 0 ? result.empty() : ArrayRef(joined) == result;
}

// Whether a parameter reaches `value`, so that a gradient flows back through it.
bool isLearned(Value value) {
  SmallVector<Value> work{value};
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
      auto role =
          function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "burin.role") : StringAttr();
      if (role && role.getValue() == "parameter")
        return true;
    } else if (!next.getDefiningOp()->hasTrait<NoDerivative>()) {
      work.append(next.getDefiningOp()->operand_begin(), next.getDefiningOp()->operand_end());
    }
  }
  return false;
}

// The same tensor with its last two dimensions swapped.
Value swapped(OpBuilder &b, Location loc, Value value) {
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, sizesOf(value).size()));
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  if (auto transpose = value.getDefiningOp<TransposeOp>();
      transpose && transpose.getPermutation() == ArrayRef(permutation))
    return transpose.getX();
  return TransposeOp::create(b, loc, value, b.getDenseI64ArrayAttr(permutation));
}

Value reshaped(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> shape) {
  if (sizesOf(value) == shape)
    return value;
  if (auto reshape = value.getDefiningOp<ReshapeOp>(); reshape && sizesOf(reshape.getX()) == shape)
    return reshape.getX();
  return ReshapeOp::create(b, loc, value, shape);
}

// From the product that makes the scores, over the softmax, to the product that uses the probabilities.
class Chain {
public:
  explicit Chain(SoftmaxOp softmax) : softmax(softmax) {}

  // False where the softmax belongs to no attention at all.
  bool find() {
    if (softmax.getType().getRank() < 2 || !findProduct())
      return false;
    findScores(softmax.getX());
    return !found.empty();
  }

  // The first reason against fusing, in the author's words; empty where there is none.
  std::string objection() {
    if (!changes.empty())
      return "the probabilities are changed before they meet the values";
    if (found.size() > 1)
      return "the scores are made of two products";
    scores = found.front();
    if (factor && comesFromScores(factor))
      return "the probabilities are multiplied by what is made of the scores";
    if (factor && isLearned(factor))
      return "the probabilities are multiplied by a learned tensor";
    if (!isBatched(scores))
      return "all heads share their keys";
    if (!isBatched(product))
      return "all heads share their values";
    for (Operation *op : afterSoftmax)
      if (!op->hasOneUse())
        return "the probabilities have a second reader";
    std::string why = collect(softmax.getX());
    if (why.empty() && factor)
      why = collect(factor);
    if (!why.empty())
      return why;
    for (Operation *op : work)
      if (comesFromScores(op->getResult(0)) && hasOtherReader(op))
        return "the scores have a second reader";
    if (hasOtherReader(scores))
      return "the scores have a second reader";
    // Extras broadcast to the softmax's input; before a reshape of the heads they would mean other heads.
    for (Operation *op : work)
      if (keepsMatrices(op) && op->getOperand(0).getType() != op->getResult(0).getType() &&
          readsHeads(op->getOperand(0)))
        return "the heads are reshaped between the scores and the softmax";
    for (Value extra : extras)
      if (getElementTypeOrSelf(extra).isF32() && isLearned(extra))
        return "a learned tensor enters between the scores and the softmax";
    return {};
  }

  int64_t bytes() { return bytesOf(softmax.getType()); }

  void fuse() {
    OpBuilder b(product);
    const Location loc = softmax.getLoc();
    // [leading..., rows, columns], from an operand that may lie transposed or under other leading dimensions.
    auto operand = [&](Value value, bool isSwapped) {
      if (isSwapped)
        value = swapped(b, loc, value);
      SmallVector<int64_t> shape(softmax.getType().getShape().drop_back(2));
      llvm::append_range(shape, sizesOf(value).take_back(2));
      return reshaped(b, loc, value, shape);
    };
    Value q = operand(scores.getLhs(), scores.getTransposeA()), k = operand(scores.getRhs(), !scores.getTransposeB());
    Value v = operand(product.getRhs(), product.getTransposeB());
    auto attention = AttentionOp::create(b, loc, q, k, v, extras.getArrayRef());
    buildRegion(attention.getScore().emplaceBlock());
    product.getResult().replaceAllUsesWith(reshaped(b, loc, attention.getOut(), sizesOf(product.getY())));

    product->erase();
    for (Operation *op : llvm::reverse(afterSoftmax))
      op->erase();
    // What is read elsewhere too (a mask that all layers share) stays for those readers.
    for (Operation *op : llvm::reverse(work))
      if (op->use_empty())
        op->erase();
    scores->erase();
  }

private:
  // The product that reads the probabilities on its left. What stands between is noted: a factor first, then reshapes.
  bool findProduct() {
    afterSoftmax.push_back(softmax);
    Value value = softmax.getY();
    while (true) {
      Operation *next = nullptr;
      for (Operation *reader : value.getUsers()) {
        if (auto matmul = dyn_cast<MatmulOp>(reader); matmul && matmul.getLhs() == value && !matmul.getTransposeA()) {
          product = matmul;
          return true;
        }
        if (auto mul = dyn_cast<MulOp>(reader); mul && value == softmax.getY() && mul.getType() == value.getType())
          factor = mul.getLhs() == value ? mul.getRhs() : mul.getLhs();
        if (keepsMatrices(reader) || (isPointwise(reader) && reader->getResult(0).getType() == value.getType()))
          next = reader;
      }
      if (!next)
        return false;
      (keepsMatrices(next) || (factor && value == softmax.getY()) ? afterSoftmax : changes).push_back(next);
      value = next->getResult(0);
    }
  }

  // Products with as many elements as the softmax that reach it through element-wise work.
  void findScores(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !searched.insert(op).second)
      return;
    auto matmul = dyn_cast<MatmulOp>(op);
    if (matmul && matmul.getType().getNumElements() == softmax.getType().getNumElements() &&
        matmul.getType().getShape().take_back(2) == softmax.getType().getShape().take_back(2))
      found.push_back(matmul);
    else if (isPointwise(op) || keepsMatrices(op))
      for (Value operand : op->getOperands())
        findScores(operand);
  }

  static bool isBatched(MatmulOp matmul) { return sizesOf(matmul.getLhs()).size() == sizesOf(matmul.getRhs()).size(); }

  bool comesFromScores(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op == scores)
      return op != nullptr;
    if (auto known = origin.find(op); known != origin.end())
      return known->second;
    const bool comes = llvm::any_of(op->getOperands(), [&](Value operand) { return comesFromScores(operand); });
    return origin[op] = comes;
  }

  // Work that makes a matrix out of less (a mask out of positions, a bias out of distances), or changes one a little,
  // is better repeated than its result kept and read.
  bool isWorthRepeating(Operation *op) {
    if (!isPointwise(op) || cast<Elementwise>(op).isExpensive())
      return false;
    if (op->getNumOperands() == 0)
      return true;
    ArrayRef<int64_t> sizes = sizesOf(op->getResult(0));
    if (sizes.size() < 2 || sizes.take_back(2) != softmax.getType().getShape().take_back(2))
      return false;
    const int64_t elements = llvm::product_of(sizes);
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return llvm::product_of(sizesOf(operand)) < elements ||
             (operand.getDefiningOp() && isWorthRepeating(operand.getDefiningOp()));
    });
  }

  // Sorts what `value` is made of into work for the region, operands first, and extras that it reads. Returns an
  // objection.
  std::string collect(Value value) {
    Operation *op = value.getDefiningOp();
    if (op == scores || work.contains(op))
      return {};
    const bool comes = comesFromScores(value);
    if (!comes && !(op && isWorthRepeating(op))) {
      extras.insert(value);
      return {};
    }
    if (!isPointwise(op) && !keepsMatrices(op))
      return "'" + op->getName().stripDialect().str() + "' of the scores is not element-wise work";
    for (Value operand : op->getOperands())
      if (std::string why = collect(operand); !why.empty())
        return why;
    work.insert(op);
    return {};
  }

  // Whether work up to `value` reads extras that differ from head to head.
  bool readsHeads(Value value) {
    if (extras.contains(value)) {
      ArrayRef<int64_t> sizes = sizesOf(value);
      return sizes.size() > 2 && (llvm::any_of(sizes.drop_back(2), [](int64_t size) { return size != 1; }) ||
                                  int64_t(sizes.size()) > softmax.getType().getRank());
    }
    Operation *op = value.getDefiningOp();
    return op && op != scores && llvm::any_of(op->getOperands(), [&](Value operand) { return readsHeads(operand); });
  }

  bool hasOtherReader(Operation *op) {
    return llvm::any_of(op->getUsers(), [&](Operation *reader) { return reader != softmax && !work.contains(reader); });
  }

  void buildRegion(Block &block) {
    IRMapping known;
    auto addArgument = [&](Value outer) {
      known.map(outer, block.addArgument(RankedTensorType::get({}, getElementTypeOrSelf(outer)), outer.getLoc()));
    };
    addArgument(scores.getY());
    for (Value extra : extras)
      addArgument(extra);
    OpBuilder b = OpBuilder::atBlockEnd(&block);
    for (Operation *op : work) {
      Value result = op->getResult(0);
      if (keepsMatrices(op)) {
        known.map(result, known.lookup(op->getOperand(0)));
        continue;
      }
      Operation *copy = b.clone(*op, known);
      copy->getResult(0).setType(RankedTensorType::get({}, getElementTypeOrSelf(result)));
    }
    SmallVector<Value> yielded{known.lookup(softmax.getX())};
    if (factor)
      yielded.push_back(known.lookup(factor));
    YieldOp::create(b, softmax.getLoc(), yielded);
  }

  SoftmaxOp softmax;
  MatmulOp product;                      // probabilities times v
  Value factor;                          // of the probabilities; null where there is none
  SmallVector<Operation *> afterSoftmax; // the softmax, its product with the factor, and reshapes up to the product
  SmallVector<Operation *> changes;      // other work up to the product
  llvm::DenseSet<Operation *> searched;
  SmallVector<MatmulOp> found; // candidates for the scores
  MatmulOp scores;
  llvm::DenseMap<Operation *, bool> origin; // what comesFromScores has found
  llvm::SetVector<Operation *> work;
  llvm::SetVector<Value> extras;
};

struct FuseAttentionPass : impl::FuseAttentionBase<FuseAttentionPass> {
  using FuseAttentionBase::FuseAttentionBase;

  void runOnOperation() override {
    SmallVector<SoftmaxOp> softmaxes;
    getOperation().walk([&](SoftmaxOp softmax) { softmaxes.push_back(softmax); });
    for (SoftmaxOp softmax : softmaxes) {
      Chain chain(softmax);
      if (!chain.find())
        continue;
      if (std::string why = chain.objection(); !why.empty()) {
        notFused(softmax, "attention", why, chain.bytes());
        continue;
      }
      chain.fuse();
      ++fused;
    }
  }
};

} // namespace
} // namespace burin
