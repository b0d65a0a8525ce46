// burin-group: decides which ops are computed together. One walk over the entry in program order; each op joins the
// group of one of its producers where both run over the same iteration space and no cycle between groups arises, and
// opens a group of its own otherwise.
//
// What is materialised is what crosses a border between groups. Views are never materialised for their own sake: they
// are cloned into the groups that read through them, or, where strides cannot say what a reader wants (heads merged
// after attention), into the group that writes.
#include <numeric>
#include <queue>

#include "mlir/IR/IRMapping.h"
#include "passes/ir/burin.h"
#include "passes/ir/bytes.h"
#include "passes/ir/constant.h"
#include "passes/ir/view.h"
#include "passes/passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace burin {

#define GEN_PASS_DEF_GROUP
#include "passes/passes.h.inc"

namespace {

using Space = SmallVector<int64_t>;

Space shapeOf(Value value) { return Space(cast<RankedTensorType>(value.getType()).getShape()); }

// Row statistics: one value for each row of `space`.
Space statisticsOf(Space space) {
  if (!space.empty())
    space.back() = 1;
  return space;
}

// Reduces only the last dimension and keeps it: can share a pass over rows with element-wise ops.
bool reducesRows(Operation *op) {
  auto reduction = dyn_cast<Reduction>(op);
  if (!reduction || !reduction.keepsDims())
    return false;
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  return reduction.reducedDims() == SmallVector<int64_t>{rank - 1};
}

// Needs all of a row before its result's first element.
bool needsWholeRows(Operation *op) { return isa<Reduction, RowPermuting>(op); }

struct Members {
  StringRef kind;
  Space space;
  Space matrices; // where ops see results as matrices of their own (`piecesOf` rows of products, heads of attention):
                  // the shape under which they do; else empty
  SmallVector<Operation *> ops;             // in program order
  llvm::SmallSetVector<int, 4> on, readers; // groups whose results this one reads, and those that read its own
  int first = 0, last = 0;                  // program positions of its ops
  int reach = 0;                            // the last position of its ops and of all that it waits for
  int into = -1;                            // merged away into that group
};

class Grouping {
public:
  Grouping(func::FuncOp entry, TargetAttr target, bool inBf16) : entry(entry), target(target), inBf16(inBf16) {}

  LogicalResult run(Pass::Statistic &groupCount, Pass::Statistic &joinedCount) {
    separateResults();
    packRightSides();
    storeConstants();
    pullIntoColumns();
    findBackward();
    assign(joinedCount);
    settleStorage();
    storeInBf16();
    if (failed(build()))
      return failure();
    for (const Members &group : groups)
      if (group.into < 0)
        ++groupCount;
    return success();
  }

private:
  // Every result of the entry is made by an op, and no two by the same: each has a place in memory of its own.
  void separateResults() {
    auto *terminator = entry.getBody().front().getTerminator();
    llvm::DenseSet<Value> returned;
    OpBuilder b(terminator);
    for (OpOperand &result : terminator->getOpOperands()) {
      Value behind = lookThrough(result.get()).value;
      if (isa<BlockArgument>(behind) || isConstant(behind.getDefiningOp()) || !returned.insert(behind).second)
        result.set(CopyOp::create(b, result.get().getLoc(), result.get().getType(), result.get()));
    }
  }

  // ---- contractions read their right side row by row or packed

  // Packs the right side of each contraction, right before the first that reads it. A matrix that several products read
  // is packed once, by a launch of its own; one whose copy would have to come back from memory as well is packed piece
  // by piece in the launch that multiplies.
  void packRightSides() {
    DenseMap<std::tuple<Value, int, int>, Value> packed;
    SmallVector<Operation *> contractions;
    entry.walk([&](Contraction op) { contractions.push_back(op); });
    llvm::MapVector<std::pair<Value, int>, int> readers;
    for (Operation *op : contractions)
      ++readers[{op->getOperand(1), int(cast<Contraction>(op).transposesRhs())}];
    for (Operation *op : contractions) {
      auto contraction = cast<Contraction>(op);
      Value right = op->getOperand(1);
      OpBuilder b(op);
      const bool inPieces = packsInPieces(op, readers.lookup({right, int(contraction.transposesRhs())}));
      // What is computed again packs again: the copy is not kept for it from the forward to the backward part.
      Value &shared = packed[{right, int(contraction.transposesRhs()), int(op->hasAttr("burin.recompute"))}];
      Value ofItsOwn, &panels = inPieces ? ofItsOwn : shared;
      if (!panels) {
        auto type = cast<RankedTensorType>(right.getType());
        Space shape(type.getShape());
        if (contraction.transposesRhs())
          std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
        int64_t columns = shape.pop_back_val(), depth = shape.pop_back_val();
        const int64_t pair = inBf16 ? 2 : 1, width = target.getPanelWidth();
        shape.append({int64_t(llvm::divideCeil(columns, width)), int64_t(llvm::divideCeil(depth, pair)), pair * width});
        Type element = inBf16 ? Type(b.getBF16Type()) : type.getElementType();
        panels = PackPanelsOp::create(b, op->getLoc(), RankedTensorType::get(shape, element), right,
                                      contraction.transposesRhs());
      }
      auto product = ProductOp::create(b, op->getLoc(), op->getResult(0).getType(), op->getOperand(0), panels,
                                       contraction.transposesLhs());
      if (auto of = op->getAttr("burin.of"))
        product->setAttr("burin.of", of);
      else
        product->setAttr("burin.of", b.getStringAttr(op->getName().stripDialect()));
      op->getResult(0).replaceAllUsesWith(product);
      op->erase();
      if (inPieces) {
        pulled[product].push_back(panels.getDefiningOp());
        isPulled.insert(panels.getDefiningOp());
      }
    }
  }

  // Right sides that are far larger than the caches, such as the table of a vocabulary; and those of products with so
  // few rows that one cell takes them all, where a copy in memory would cost more time than packing: unless it is small
  // enough to stay near, or its rows would be rounded to bf16 again for every few columns.
  bool packsInPieces(Operation *contraction, int readers) const {
    constexpr int64_t fewRows = 512;
    if (!target.packsPieces())
      return false;
    auto right = cast<RankedTensorType>(contraction->getOperand(1).getType());
    const Space result = shapeOf(contraction->getResult(0));
    const bool batched = right.getRank() > 2;
    const int64_t rows = batched ? result[result.size() - 2] : llvm::product_of(ArrayRef<int64_t>(result).drop_back());
    if (bytesOf(right) > 16 * target.getL2() && (!batched || rows <= fewRows))
      return true;
    return readers == 1 && rows <= fewRows && bytesOf(right) > 2 * target.getL2() && (batched || !inBf16) &&
           !cast<Contraction>(contraction).transposesLhs();
  }

  // Work that reads whole tiles reads them from memory, so a constant operand has to lie there.
  void storeConstants() {
    SmallVector<Operation *> readers;
    entry.walk([&](Operation *op) {
      if (isa<SelfTiled, ProductOp, PackPanelsOp>(op))
        readers.push_back(op);
    });
    for (Operation *op : readers)
      for (OpOperand &operand : op->getOpOperands()) {
        Operation *constant = lookThrough(operand.get()).value.getDefiningOp();
        if (!isConstant(constant))
          continue;
        OpBuilder b(op);
        Operation *whole = b.clone(*constant); // all its elements are equal, whatever views lie between
        whole->getResult(0).setType(operand.get().getType());
        operand.set(CopyOp::create(b, op->getLoc(), operand.get().getType(), whole->getResult(0)));
      }
  }

  // Element-wise ops that only a reduction over columns reads are computed on its way down.
  void pullIntoColumns() {
    entry.walk([&](Reduction op) {
      if (reducesRows(op))
        return;
      Space space = shapeOf(op->getOperand(0));
      std::function<void(Value)> pull = [&](Value value) {
        auto *maker = value.getDefiningOp();
        if (!maker || !isa<Elementwise>(maker) || isConstant(maker) || !value.hasOneUse() || shapeOf(value) != space)
          return;
        for (Value operand : maker->getOperands())
          pull(operand);
        pulled[op].push_back(maker);
        isPulled.insert(maker);
      };
      pull(op->getOperand(0));
    });
  }

  // ---- which ops go together

  // The backward part starts after the last op of the forward part's results.
  void findBackward() {
    int position = 0;
    for (Operation &op : entry.getBody().front())
      positions[&op] = position++;
    bool differentiates = false;
    int last = -1;
    for (OpOperand &result : entry.getBody().front().getTerminator()->getOpOperands()) {
      auto role = entry.getResultAttrOfType<StringAttr>(result.getOperandNumber(), "burin.role");
      differentiates |= role.getValue() == "gradient";
      if (auto *maker = result.get().getDefiningOp(); maker && role.getValue() == "output")
        last = std::max(last, positions[maker]);
    }
    if (differentiates)
      backward = last + 1;
  }

  void assign(Pass::Statistic &joined) {
    for (Operation &op : entry.getBody().front().without_terminator()) {
      if (isa<View>(op) || isConstant(&op) || isPulled.contains(&op))
        continue;
      int group = place(&op);
      if (!groups[group].ops.empty())
        ++joined;
      for (Operation *helper : pulled.lookup(&op))
        add(helper, group);
      add(&op, group);
      groups[group].last = positions[&op];
      raiseReach(group, positions[&op]);
    }
  }

  void add(Operation *op, int group) {
    groups[group].ops.push_back(op);
    groupOf[op] = group;
    for (Value operand : op->getOperands())
      if (int on = producer(operand); on >= 0 && on != group) {
        groups[group].on.insert(on);
        groups[on].readers.insert(group);
        raiseReach(group, groups[on].reach);
        if (groups[on].on.empty()) // right before it, if it came later
          groups[on].first = std::min(groups[on].first, groups[group].first);
      }
  }

  // The group waits for an op at `position`, and with it all that wait for the group.
  void raiseReach(int group, int position) {
    SmallVector<int> rising{group};
    while (!rising.empty()) {
      Members &next = groups[find(rising.pop_back_val())];
      if (next.reach >= position)
        continue;
      next.reach = position;
      rising.append(next.readers.begin(), next.readers.end());
    }
  }

  int open(StringRef kind, Space space, Operation *op) {
    Members members;
    members.kind = kind;
    members.space = std::move(space);
    members.first = members.last = members.reach = positions[op];
    groups.push_back(std::move(members));
    return groups.size() - 1;
  }

  int find(int group) const {
    while (groups[group].into >= 0)
      group = groups[group].into;
    return group;
  }

  // The group that makes a value, through views; -1 for arguments and constants.
  int producer(Value value) const {
    auto *op = lookThrough(value).value.getDefiningOp();
    auto found = op ? groupOf.find(op) : groupOf.end();
    return found == groupOf.end() ? -1 : find(found->second);
  }

  // Chooses the group for an op: joined where that is allowed, new otherwise.
  int place(Operation *op) {
    if (isa<ProductOp>(op))
      return open("contraction", shapeOf(op->getResult(0)), op);
    if (isa<PackPanelsOp>(op))
      return open("pack", shapeOf(op->getResult(0)), op);
    if (isa<SelfTiled>(op))
      return open("self", shapeOf(op->getResult(0)), op);
    if (isa<Reduction>(op) && !reducesRows(op))
      return open("columns", shapeOf(op->getOperand(0)), op);

    Space space = isa<Reduction>(op) ? shapeOf(op->getOperand(0)) : shapeOf(op->getResult(0));
    llvm::SmallSetVector<int, 4> candidates;
    for (Value operand : op->getOperands())
      if (int group = producer(operand); group >= 0 && canHost(group, op, space))
        candidates.insert(group);
    // Contractions first, then the latest: joining an early group is what most often closes a cycle.
    SmallVector<int> order(candidates.begin(), candidates.end());
    llvm::sort(order, [&](int x, int y) {
      bool cx = groups[x].kind == "contraction", cy = groups[y].kind == "contraction";
      return cx != cy ? cx : groups[x].last > groups[y].last;
    });
    for (int group : order) {
      if (closesCycle(op, group) || delays(op, group, order))
        continue;
      // What meets in this op is computed side by side, tile by tile: gate and up, the three gradients at the input of
      // q, k and v, both halves of a rotation.
      for (int other : order)
        if (other != group && canMerge(group, other) && !closesCycle(op, other, group))
          merge(other, group);
      if (Members &host = groups[group];
          host.matrices.empty() && (host.kind == "self" || llvm::any_of(operandsFrom(group, op), isView)))
        host.matrices = space;
      return group;
    }
    return open("rows", space, op);
  }

  // What an op reads of a group's values, directly or as views.
  SmallVector<Value> operandsFrom(int group, Operation *op) const {
    return llvm::to_vector(
        llvm::make_filter_range(op->getOperands(), [&](Value operand) { return producer(operand) == group; }));
  }

  // Whether an op over `space` can be computed by a group whose values it reads: element by element, or as matrices
  // that lie whole in a tile.
  bool canHost(int index, Operation *op, const Space &space) const {
    const Members &group = groups[index];
    // What only the backward part needs is computed there, from values that are kept anyway.
    if (positions.lookup(op) >= backward && group.last < backward)
      return false;
    const SmallVector<Value> operands = operandsFrom(index, op);
    const bool views = llvm::any_of(operands, isView);
    // Statistics of the rows (one value a row) ride along.
    auto runsOver = [&](const Space &whole) {
      return space == whole || (isa<Elementwise>(op) && space == statisticsOf(whole) && hasStatistics(group));
    };
    auto isMatrix = [&](Value operand) {
      return !group.matrices.empty() && (shapeOf(operand) == group.matrices ||
                                         (shapeOf(operand) == statisticsOf(group.matrices) && hasStatistics(group)));
    };
    if (group.kind == "self") {
      Operation *tiled = group.ops.front();
      // An argument, a former gradient say, may have to be where the result will, and with it what it is made of.
      const bool readsReplaced = llvm::any_of(op->getOperands(), [&](Value other) {
        return isa<BlockArgument>(lookThrough(other).value) && shapeOf(other) == space;
      });
      const Space &whole = group.matrices.empty() ? space : group.matrices;
      return !views && !readsReplaced && cast<SelfTiled>(tiled).makesWholeMatrices() && runsOver(whole) &&
             llvm::all_of(operands, [&](Value operand) {
               return operand.getDefiningOp() == tiled ? shapeOf(operand) == whole : isMatrix(operand);
             });
    }
    if (group.kind == "contraction" && (views || llvm::any_of(operands, isMatrix)))
      return (views || runsOver(group.matrices)) && llvm::all_of(operands, [&](Value operand) {
               return isView(operand) ? showsPieces(group, operand, space) : isMatrix(operand);
             });
    if (views || (group.kind != "rows" && group.kind != "contraction") || !runsOver(group.space))
      return false;
    return group.kind == "rows" || !needsWholeRows(op) || wholeRowsFit(group);
  }

  static bool isView(Value value) { return value.getDefiningOp() && isa<View>(value.getDefiningOp()); }

  // Whether a view of what products, or work on them, have made shows pieces of their rows, whole ones in each tile.
  bool showsPieces(const Members &group, Value view, const Space &space) const {
    if (group.kind != "contraction" || space == group.space || shapeOf(view) != space ||
        !(group.matrices.empty() || group.matrices == space))
      return false;
    const Behind behind = lookThrough(view);
    if (shapeOf(behind.value) != group.space)
      return false;
    auto pieces = piecesOf(behind);
    if (failed(pieces))
      return false;
    // Rows of different matrices are no rows of one tile: with few in each, products would take few at a time.
    constexpr int64_t fewRows = 32;
    const bool oneMatrix = llvm::product_of(ArrayRef<int64_t>(group.space).drop_back(2)) == 1;
    if (!oneMatrix && group.space[group.space.size() - 2] < fewRows)
      return false;
    const int64_t unit = std::lcm(pieces->size, target.getPanelWidth());
    return fitsInCache(std::min(unit, group.space.back()), llvm::count_if(group.ops, llvm::IsaPred<ProductOp>));
  }

  static bool hasStatistics(const Members &group) {
    return llvm::any_of(group.ops, [](Operation *op) { return isa<Reduction>(op); });
  }

  // A reduction over the columns of products needs whole rows of every product in cache at once. Pieces of a right side
  // that a launch packs serve many rows of a few columns.
  bool wholeRowsFit(const Members &group, const Members *joined = nullptr) const {
    auto isProduct = [](Operation *op) { return isa<ProductOp>(op); };
    auto packs = [](Operation *op) { return isa<PackPanelsOp>(op); };
    if (llvm::any_of(group.ops, packs) || (joined && llvm::any_of(joined->ops, packs)))
      return false;
    int64_t products = llvm::count_if(group.ops, isProduct) + (joined ? llvm::count_if(joined->ops, isProduct) : 0);
    return fitsInCache(group.space.back(), products);
  }

  // Whether tiles of so many columns stay in cache, with rows enough to multiply well.
  bool fitsInCache(int64_t columns, int64_t products) const {
    constexpr int64_t rows = 32;
    return columns * rows * 4 * (products + 1) <= target.getL2() / 2;
  }

  // Whether `from` reads, directly or not, what `group` makes.
  bool dependsOn(int from, int group, llvm::DenseSet<int> &seen) const {
    if (from == group)
      return true;
    if (groups[from].reach < groups[group].last || !seen.insert(from).second)
      return false;
    return llvm::any_of(groups[from].on, [&](int on) { return dependsOn(find(on), group, seen); });
  }

  // Whether the op, put into `group`, would have it read a group that reads it. Operands from `besides` are left out.
  bool closesCycle(Operation *op, int group, int besides = -1) const {
    llvm::DenseSet<int> seen;
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      int on = producer(operand);
      return on >= 0 && on != group && on != besides && dependsOn(on, group, seen);
    });
  }

  // Whether the op reads what another group makes later, which `group` would have to wait for: what it reads itself
  // would be kept meanwhile. Groups that may be merged with it are computed together; those that read nothing but
  // arguments wait for nobody.
  bool delays(Operation *op, int group, ArrayRef<int> candidates) const {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      int on = producer(operand);
      return on >= 0 && on != group && groups[on].first > groups[group].last && !groups[on].on.empty() &&
             !(llvm::is_contained(candidates, on) && canMerge(group, on));
    });
  }

  bool canMerge(int x, int y) const {
    llvm::DenseSet<int> seenX, seenY;
    // A group of rows may follow products; whether whole rows fit has then to be asked again.
    if (groups[x].space != groups[y].space || (groups[y].kind == "contraction" && groups[x].kind != "contraction"))
      return false;
    if (groups[x].kind == "self" || groups[y].kind == "self" || !groups[x].matrices.empty() ||
        !groups[y].matrices.empty())
      return false;
    if (groups[x].kind == "contraction" && (hasStatistics(groups[x]) || hasStatistics(groups[y])) &&
        !wholeRowsFit(groups[x], &groups[y]))
      return false;
    return !dependsOn(x, y, seenX) && !dependsOn(y, x, seenY);
  }

  void merge(int from, int to) {
    Members &a = groups[from], &b = groups[to];
    b.ops.append(a.ops);
    llvm::sort(b.ops, [&](Operation *x, Operation *y) { return positions[x] < positions[y]; });
    b.on.insert(a.on.begin(), a.on.end());
    b.readers.insert(a.readers.begin(), a.readers.end());
    b.first = std::min(a.first, b.first);
    b.last = std::max(a.last, b.last);
    const int reach = std::max(a.reach, b.reach);
    a.into = to;
    a.ops.clear();
    // Readers of either wait for both.
    b.reach = std::min(a.reach, b.reach);
    raiseReach(to, reach);
  }

  // ---- how values are stored

  // For each value that crosses a border, the view of it that is stored row by row. Readers that strides cannot serve
  // get a copy of their own.
  void settleStorage() {
    std::vector<Value> made;
    for (Operation &op : entry.getBody().front().without_terminator())
      if (groupOf.count(&op))
        llvm::append_range(made, op.getResults());
    llvm::append_range(made, entry.getArguments());
    // Copies made on the way are values like all others: their readers are looked at in turn.
    while (!made.empty()) {
      Value value = made.back();
      made.pop_back();
      SmallVector<Value> leaves = leavesOf(value);
      Value best = value;
      size_t fewest = unserved(value, value, leaves).size();
      if (!isa<BlockArgument>(value))
        for (Value candidate : leaves) {
          if (fewest == 0)
            break;
          if (!undone(candidate, value) || failed(liesIn(value, candidate)))
            continue;
          if (size_t copies = unserved(value, candidate, leaves).size(); copies < fewest) {
            fewest = copies;
            best = candidate;
          }
        }
      storage[value] = best;
      // One copy may serve several leaves: those whose views lead through it are the copy's from then on.
      for (auto left = unserved(value, best, leaves); !left.empty(); left = unserved(value, best, leavesOf(value)))
        made.push_back(materialise(value, best, left.front()));
    }
  }

  // The value itself and every view of it that another group reads, or the entry returns.
  SmallVector<Value> leavesOf(Value value) const {
    SmallVector<Value> leaves;
    std::function<void(Value)> visit = [&](Value at) {
      bool read = false;
      for (Operation *user : at.getUsers()) {
        if (isa<View>(user))
          visit(user->getResult(0));
        else
          read |= isa<BlockArgument>(value) || !groupOf.count(user) || find(groupOf.lookup(user)) != producer(value);
      }
      if (read)
        leaves.push_back(at);
    };
    visit(value);
    return leaves;
  }

  // How `value` lies when `stored` (a view of it) lies row by row.
  FailureOr<Strided> liesIn(Value value, Value stored) const {
    Strided where = rowMajor(shapeOf(stored));
    while (stored != value) {
      auto view = cast<View>(stored.getDefiningOp());
      auto before = view.viewedFrom(where);
      if (failed(before))
        return failure();
      where = *before;
      stored = view->getOperand(0);
    }
    return where;
  }

  // Whether every view between the two can be undone, so that readers of the value itself can be written in terms of
  // the candidate.
  bool undone(Value candidate, Value value) const {
    return llvm::all_of(viewsBetween(candidate, value), [](Operation *view) {
      Block attempt;
      OpBuilder b(view->getContext());
      b.setInsertionPointToStart(&attempt);
      return bool(cast<View>(view).undo(b, view->getResult(0)));
    });
  }

  static SmallVector<Operation *> viewsBetween(Value leaf, Value value) {
    SmallVector<Operation *> views;
    for (; leaf != value; leaf = leaf.getDefiningOp()->getOperand(0))
      views.insert(views.begin(), leaf.getDefiningOp());
    return views;
  }

  // The views of a value that cannot be read, or returned, when `stored` is what lies row by row.
  SmallVector<Value> unserved(Value value, Value stored, ArrayRef<Value> leaves) const {
    SmallVector<Value> left;
    for (Value leaf : leaves)
      if (lastReadable(value, stored, leaf) != leaf || (isReturned(leaf) && leaf != stored))
        left.push_back(leaf);
    return left;
  }

  bool isReturned(Value value) const {
    return llvm::any_of(value.getUsers(), [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
  }

  // How far along the views from a value to a leaf strides can say where the elements lie.
  Value lastReadable(Value value, Value stored, Value leaf) const {
    Strided where = *liesIn(value, stored);
    Value reached = value;
    for (Operation *view : viewsBetween(leaf, value)) {
      auto next = cast<View>(view).viewOf(where);
      if (failed(next))
        break;
      where = *next;
      reached = view->getResult(0);
    }
    return reached;
  }

  // Puts a copy into the views that lead to a leaf, as late as it can still be read; the rest of the views read the
  // copy.
  Value materialise(Value value, Value stored, Value leaf) {
    Value from = lastReadable(value, stored, leaf);
    OpBuilder b(entry.getContext());
    b.setInsertionPointAfterValue(from);
    auto copy = CopyOp::create(b, leaf.getLoc(), from.getType(), from);
    if (from == leaf) {
      from.replaceUsesWithIf(copy, [&](OpOperand &use) { return use.getOwner()->hasTrait<OpTrait::IsTerminator>(); });
    } else {
      auto views = viewsBetween(leaf, from);
      views.front()->setOperand(0, copy);
    }
    int maker = producer(value);
    positions[copy] = maker >= 0 ? groups[maker].last : 0;
    add(copy, open("rows", shapeOf(copy), copy));
    return copy;
  }

  // ---- what lies in memory in bf16

  // Values lie in bf16 where the products that read them round them anyway: half the memory, and not a bit of those
  // products changes. Two more kinds of readers see less than they did. The backward part may read rounded what a
  // product gave in the forward part, a bias added perhaps: slopes are smooth in it. (Not in the result of a function,
  // of which they may be 1 - y^2, and not where it is compared: the forward part has decided by what it was.) And sums
  // of columns there, gradients of biases: those of weights are made of rounded values too.
  void storeInBf16() {
    if (!inBf16)
      return;
    for (auto [value, stored] : storage)
      if (canLieInBf16(value))
        liesInBf16.insert(value);
  }

  bool canLieInBf16(Value value) const {
    Operation *op = value.getDefiningOp();
    if (!op || !cast<RankedTensorType>(value.getType()).getElementType().isF32())
      return false;
    const int maker = producer(value);
    const Members &group = groups[maker];
    auto tiled = dyn_cast<SelfTiled>(op);
    if (group.kind == "columns" || group.kind == "pack" || (group.kind == "self" && !interimFits(group)) ||
        (tiled && !tiled.givesBf16(cast<OpResult>(value).getResultNumber())))
      return false;
    // What its own group reads again, it reads before rounding: not where that would be read back from memory, as views
    // are.
    const bool isReadBack = tiled || isa<RowPermuting>(op);
    const bool mayBeKept = group.kind == "contraction" && positions.lookup(op) < backward && !meetsStatistics(op) &&
                           (isa<ProductOp>(op) || (isa<Elementwise>(op) && !cast<Elementwise>(op).isExpensive()));
    bool isMultiplied = false, isKept = false;
    std::function<bool(Value)> allMayRead = [&](Value at) {
      return llvm::all_of(at.getUses(), [&](OpOperand &use) {
        Operation *user = use.getOwner();
        if (isa<View>(user))
          return allMayRead(user->getResult(0));
        if (!groupOf.count(user))
          return false; // returned
        if (find(groupOf.lookup(user)) == maker)
          return at == value && !isReadBack;
        if (rounds(use)) {
          isMultiplied = true;
          return true;
        }
        if (positions.lookup(user) < backward)
          return false;
        if (isa<Elementwise>(user)) {
          isKept = true;
          return mayBeKept && !isCompared(user);
        }
        return isa<Reduction>(user) && !reducesRows(user);
      });
    };
    return allMayRead(value) && (isMultiplied || isKept);
  }

  // Whether a reader sees no more than what bf16 holds.
  bool rounds(OpOperand &use) const {
    Operation *user = use.getOwner();
    if (auto tiled = dyn_cast<SelfTiled>(user))
      return tiled.takesBf16(use.getOperandNumber());
    return (isa<ProductOp>(user) && use.getOperandNumber() == 0) || isa<PackPanelsOp>(user) ||
           (isa<CopyOp>(user) && canLieInBf16(user->getResult(0)));
  }

  // An op, and what its group makes of its result; or, not `forward`, what it is made of there.
  llvm::SetVector<Operation *> reached(Operation *op, bool forward) const {
    const int group = producer(op->getResult(0));
    llvm::SetVector<Operation *> found;
    found.insert(op);
    for (size_t i = 0; i < found.size(); ++i) {
      SmallVector<Operation *> next;
      if (forward)
        llvm::append_range(next, found[i]->getUsers());
      else
        for (Value operand : found[i]->getOperands())
          if (Operation *maker = operand.getDefiningOp())
            next.push_back(maker);
      for (Operation *other : next)
        if (other->getNumResults() > 0 && producer(other->getResult(0)) == group)
          found.insert(other);
    }
    return found;
  }

  // Whether its group makes sums or maxima of rows of an op's result, or the result of such: what else is made of
  // either has to fit the other.
  bool meetsStatistics(Operation *op) const {
    return llvm::any_of(reached(op, /*forward=*/true), llvm::IsaPred<Reduction>) ||
           llvm::any_of(reached(op, /*forward=*/false), llvm::IsaPred<Reduction>);
  }

  // Whether comparisons are made of an op's result in its group.
  bool isCompared(Operation *op) const {
    return llvm::any_of(reached(op, /*forward=*/true), [](Operation *other) {
      return !cast<RankedTensorType>(other->getResult(0).getType()).getElementType().isF32();
    });
  }

  // The type of the tensor in which a value lies.
  Type storedType(Value value) const {
    auto type = cast<RankedTensorType>(storage.lookup(value).getType());
    return liesInBf16.contains(value) ? type.clone(BFloat16Type::get(type.getContext())) : type;
  }

  // ---- writing the groups

  // Groups in an order in which each follows what it reads; among those that may go next, the one whose first op came
  // first.
  FailureOr<SmallVector<int>> inOrder() {
    SmallVector<int> live;
    for (int group = 0, count = groups.size(); group < count; ++group)
      if (groups[group].into < 0)
        live.push_back(group);
    DenseMap<int, llvm::SmallSetVector<int, 4>> on;
    DenseMap<int, int> waiting;
    DenseMap<int, SmallVector<int>> readers;
    for (int group : live) {
      for (Operation *op : groups[group].ops)
        for (Value operand : op->getOperands())
          if (int maker = producer(operand); maker >= 0 && maker != group)
            on[group].insert(maker);
      waiting[group] = on[group].size();
      for (int maker : on[group])
        readers[maker].push_back(group);
    }
    auto later = [&](int x, int y) { return std::pair(groups[x].first, x) > std::pair(groups[y].first, y); };
    std::priority_queue<int, std::vector<int>, decltype(later)> ready(later);
    for (int group : live)
      if (waiting[group] == 0)
        ready.push(group);
    SmallVector<int> order;
    while (!ready.empty()) {
      int group = ready.top();
      ready.pop();
      order.push_back(group);
      for (int reader : readers[group])
        if (--waiting[reader] == 0)
          ready.push(reader);
    }
    if (order.size() != live.size())
      return entry.emitError("internal error: groups read each other in a circle (please report)");
    return order;
  }

  LogicalResult build() {
    auto order = inOrder();
    if (failed(order))
      return failure();
    Block &body = entry.getBody().front();
    auto *terminator = body.getTerminator();
    OpBuilder b(terminator);
    DenseMap<Value, Value> memory; // what lies row by row -> the group's result or the argument that holds it
    for (BlockArgument argument : entry.getArguments()) {
      memory[argument] = argument;
      seenTypes[argument] = argument.getType();
    }
    for (int index : *order)
      buildGroup(b, groups[index], index, memory);
    for (OpOperand &result : terminator->getOpOperands())
      result.set(memory.lookup(result.get()));
    for (Operation *op = terminator->getPrevNode(), *before; op; op = before) {
      before = op->getPrevNode();
      if (!isa<GroupOp>(op))
        op->erase();
    }
    return success();
  }

  // Whether the group that makes a value reads it.
  bool isReadWithin(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return groupOf.count(user) && find(groupOf.lookup(user)) == producer(value);
    });
  }

  // What an op that tiles itself makes for its group alone.
  SmallVector<Value> interimOf(const Members &members) const {
    SmallVector<Value> values;
    if (members.kind == "self")
      for (Value result : members.ops.front()->getResults())
        if (leavesOf(result).empty() && isReadWithin(result))
          values.push_back(result);
    return values;
  }

  bool interimFits(const Members &members) const { return target.keepsInScratch(interimOf(members)); }

  // What does not fit into scratch can lie where a result of the same type comes later, one for each; where there is
  // none it is stored like a result.
  void storeInterim(const Members &members, llvm::SmallSetVector<Value, 4> &results) const {
    if (interimFits(members))
      return;
    Operation *op = members.ops.front();
    SmallVector<Type> later;
    for (Value result : results)
      if (result.getDefiningOp() != op)
        later.push_back(result.getType());
    for (Value result : interimOf(members)) {
      if (auto *place = llvm::find(later, result.getType()); place != later.end())
        later.erase(place);
      else
        results.insert(result);
    }
  }

  void buildGroup(OpBuilder &b, const Members &members, int index, DenseMap<Value, Value> &memory) {
    auto memoryOf = [&](Value value) { return memory.lookup(storage.lookup(value)); };
    llvm::SetVector<Value> inputs;
    llvm::SmallSetVector<Value, 4> results;
    for (Operation *op : members.ops) {
      for (Value operand : op->getOperands()) {
        Value behind = lookThrough(operand).value;
        if (producer(behind) != index && !isConstant(behind))
          inputs.insert(memoryOf(behind));
      }
      for (Value result : op->getResults())
        if (!leavesOf(result).empty() || (isa<SelfTiled>(op) && !isReadWithin(result)))
          results.insert(result);
    }
    storeInterim(members, results);
    SmallVector<Type> types;
    for (Value result : results)
      types.push_back(storedType(result));
    auto group = GroupOp::create(b, members.ops.front()->getLoc(), types, members.kind, inputs.getArrayRef());
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Location> at(inputs.size(), group.getLoc());
    auto seen = llvm::map_to_vector(inputs, [&](Value input) { return seenTypes.lookup(input); });
    Block *body = b.createBlock(&group.getBody(), {}, seen, at);
    IRMapping map;
    for (auto [input, argument] : llvm::zip_equal(inputs, body->getArguments()))
      map.map(input, argument);
    // Bring the value that a member reads into the body: its storage read through views.
    std::function<Value(Value)> bring = [&](Value value) -> Value {
      if (Value known = map.lookupOrNull(value))
        return known;
      if (Value known = map.lookupOrNull(memory.lookup(value))) {
        map.map(value, known);
        return known;
      }
      Operation *op = value.getDefiningOp();
      if (op && isa<View>(op)) {
        bring(op->getOperand(0));
        b.clone(*op, map);
        return map.lookup(value);
      }
      if (isConstant(op)) {
        b.clone(*op, map);
        return map.lookup(value);
      }
      Value at = map.lookup(memoryOf(value));
      for (Operation *view : llvm::reverse(viewsBetween(storage.lookup(value), value)))
        at = cast<View>(view).undo(b, at);
      map.map(value, at);
      return at;
    };
    for (Operation *op : members.ops) {
      for (Value operand : op->getOperands())
        map.map(operand, bring(operand));
      b.clone(*op, map);
    }
    SmallVector<Value> yields;
    for (Value result : results) {
      for (Operation *view : viewsBetween(storage.lookup(result), result))
        if (!map.contains(view->getResult(0)))
          b.clone(*view, map);
      yields.push_back(map.lookup(storage.lookup(result)));
    }
    YieldOp::create(b, group.getLoc(), yields);
    for (auto [result, value] : llvm::zip_equal(results, group.getOutputs())) {
      memory[storage.lookup(result)] = value;
      seenTypes[value] = storage.lookup(result).getType();
    }
  }

  func::FuncOp entry;
  TargetAttr target;
  bool inBf16; // products take operands rounded to bf16
  std::vector<Members> groups;
  DenseMap<Operation *, int> groupOf, positions;
  int backward = std::numeric_limits<int>::max(); // position of the first op of the backward part
  DenseMap<Operation *, SmallVector<Operation *>>
      pulled; // reduction over columns, or product -> the ops before it that only it reads and its group computes
  llvm::DenseSet<Operation *> isPulled;
  DenseMap<Value, Value> storage;
  llvm::DenseSet<Value> liesInBf16; // of the values in `storage`
  DenseMap<Value, Type> seenTypes;  // arguments and results of groups -> as what bodies see them
};

struct GroupPass : impl::GroupBase<GroupPass> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr("burin.entry"))
      return;
    auto module = getOperation()->getParentOfType<ModuleOp>();
    auto target = module->getAttrOfType<TargetAttr>("burin.target");
    auto dtype = module->getAttrOfType<StringAttr>("burin.dtype");
    if (!target) {
      getOperation().emitError("the module has no burin.target");
      return signalPassFailure();
    }
    if (failed(Grouping(getOperation(), target, dtype && dtype.getValue() == "bf16").run(groups, joined)))
      signalPassFailure();
  }
};

} // namespace
} // namespace burin
