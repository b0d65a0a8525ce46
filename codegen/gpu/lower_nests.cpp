// linalg.generic on tiles becomes work of the threads of a block. Where every result has all loops, elements are shared
// out with neighbours side by side along the loop that most operands are contiguous in. Where results are accumulated,
// the number of them decides: a thread for each; several threads for each, joined through shared memory; or the lanes
// of a warp for each, joined by shuffles. Which thread adds what follows from shapes alone.
#include <functional>

#include "codegen/gpu/gpu.h"
#include "codegen/gpu/tile.h"
#include "codegen/nest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

namespace burin {

#define GEN_PASS_DEF_GPULOWERNESTS
#include "codegen/gpu/passes.h.inc"

using namespace mlir;
using namespace gpu;

namespace {

struct Operand {
  Tile tile;
  Value scalar;                 // instead of a tile: the same for all
  SmallVector<int64_t> strides; // by loop; 0 where the operand lacks it
  BlockArgument argument;       // of the nest's body
  // Results alone:
  bool accumulated = false; // lacks a loop
  Fold fold;
};

class Nest : NestLoops<Operand> {
public:
  Nest(OpBuilder &b, linalg::GenericOp op) : NestLoops(op), b(b), e{b, op.getLoc()} {}

  LogicalResult lower() {
    if (failed(read([&](Value value, Operand &operand) { return resolve(b, op.getLoc(), value, operand); })))
      return failure();
    chooseNumbers();
    sortLoops();
    swaps = !op.getBody()->getOps<SwapLanesOp>().empty();
    if (!isRegular()) {
      if (swaps)
        return op.emitError("internal error: lanes cannot be swapped in a nest that runs in order (please report)");
      emitInOrder();
      return success();
    }
    chooseFast();
    if (reduced.empty())
      emitMap();
    else
      emitReduction();
    return success();
  }

private:
  OpBuilder &b;
  Emitter e;
  SmallVector<size_t> kept, reduced; // loops that all results have, and those that some lack
  int64_t fast = -1;  // the loop along which neighbouring threads (or a thread's own elements) lie; -1: no loops
  int64_t unroll = 1; // elements of the fast loop that a thread takes at a time
  bool swaps = false;

  using Counters = SmallVector<Value>; // by loop

  bool has(const Operand &operand, int64_t loop) const { return loop >= 0 && operand.strides[loop] != 0; }

  // ---- what the nest is

  static LogicalResult resolve(OpBuilder &b, Location loc, Value value, Operand &operand) {
    if (!isa<MemRefType>(value.getType())) {
      operand.scalar = value;
      return success();
    }
    operand.tile = resolveTile(b, loc, value);
    return success(operand.tile.base != nullptr);
  }

  // 32-bit numbers unless something in the nest is beyond them.
  void chooseNumbers() {
    int64_t most = threads;
    for (int64_t extent : extents)
      most *= extent;
    for (Operands *list : {&inputs, &outputs})
      for (Operand &operand : *list)
        if (operand.tile.base)
          most = std::max(most, operand.tile.span());
    if (most > std::numeric_limits<int32_t>::max())
      e.number = b.getI64Type();
  }

  void sortLoops() {
    for (Operand &output : outputs)
      output.accumulated = llvm::is_contained(output.strides, 0);
    for (size_t loop = 0; loop < extents.size(); ++loop)
      (llvm::all_of(outputs, [&](Operand &output) { return has(output, loop); }) ? kept : reduced).push_back(loop);
    for (Operand &output : outputs)
      if (output.accumulated)
        output.fold = foldOf(op, output.argument);
  }

  // Accumulated results have the kept loops alone.
  bool isRegular() const {
    return llvm::all_of(outputs, [&](const Operand &output) {
      return !output.accumulated || llvm::none_of(reduced, [&](size_t loop) { return has(output, loop); });
    });
  }

  SmallVector<size_t> accumulators() const {
    SmallVector<size_t> list;
    for (auto [i, output] : llvm::enumerate(outputs))
      if (output.accumulated)
        list.push_back(i);
    return list;
  }

  bool foldsAreKnown() const {
    return llvm::all_of(outputs, [](const Operand &output) { return !output.accumulated || output.fold.op; });
  }

  int64_t count(ArrayRef<size_t> loops) const {
    int64_t turns = 1;
    for (size_t loop : loops)
      turns *= extents[loop];
    return turns;
  }

  template <typename Visit> void forEachTile(Visit visit) const {
    for (const Operand &input : inputs)
      if (input.tile.base && !input.argument.use_empty())
        visit(input);
    for (const Operand &output : outputs)
      visit(output);
  }

  // The loop along which memory is contiguous for most: device memory counts for more, because its bytes come in
  // sectors. A thread takes four neighbours at a time where all of them can be read as one.
  void chooseFast() {
    if (extents.empty())
      return;
    int64_t best = -1;
    const int64_t last = static_cast<int64_t>(extents.size()) - 1, lane = loopOf.empty() ? -1 : loopOf.back();
    for (int64_t loop = last; loop >= 0; --loop) {
      int64_t score = 0;
      forEachTile(
          [&](const Operand &operand) { score += operand.strides[loop] == 1 ? (operand.tile.shared ? 1 : 4) : 0; });
      if (score > best) {
        best = score;
        fast = loop;
      }
    }
    // Pairs lie along the last loop, and a thread computes both of a pair.
    if (swaps && lane >= 0) {
      fast = lane;
      unroll = 2;
    }
    bool wide = extents[fast] % 4 == 0;
    forEachTile([&](const Operand &operand) {
      const int64_t stride = operand.strides[fast], bytes = operand.tile.elementBytes();
      wide &= stride == 0 || (stride == 1 && operand.tile.alignment % (4 * bytes) == 0);
      if (stride == 1)
        for (auto [loop, other] : llvm::enumerate(operand.strides))
          wide &= static_cast<int64_t>(loop) == fast || other % 4 == 0;
    });
    int64_t total = 1;
    for (int64_t extent : extents)
      total *= extent;
    if (wide && total >= 4 * threads)
      unroll = 4;
  }

  // ---- memory

  // The address of an operand's element, or of the first of `unroll`.
  Value address(const Operand &operand, const Counters &at, int64_t u) {
    Value offset;
    for (size_t loop = 0; loop < extents.size(); ++loop)
      if (has(operand, loop)) {
        Value term = e.mul(at[loop], operand.strides[loop]);
        offset = offset ? e.add(offset, term) : term;
      }
    Value start = offset ? e.at(operand.tile.base, operand.tile.element, offset) : operand.tile.base;
    return has(operand, fast) && u > 0 ? e.at(start, operand.tile.element, u * operand.strides[fast]) : start;
  }

  // Whether a thread's elements are neighbours in memory.
  bool isRun(const Operand &operand) const { return unroll > 1 && has(operand, fast) && operand.strides[fast] == 1; }

  // What the address of a thread's elements is known to be a multiple of: chooseFast has looked at the other loops.
  int64_t alignment(const Operand &operand) const {
    return unroll == 4 ? operand.tile.alignment : operand.tile.elementBytes();
  }

  // ---- the body

  // Computes the body for the `unroll` elements at `at` and writes full results. `sums` are the accumulated results so
  // far: one for each accumulated result, joined by one element after the other, or one for each element and result.
  SmallVector<Value> evaluate(const Counters &at, SmallVector<Value> sums) {
    SmallVector<IRMapping> values(unroll);
    auto load = [&](const Operand &operand) {
      if (operand.argument.use_empty())
        return;
      SmallVector<Value> run(unroll, operand.scalar);
      if (!operand.scalar && isRun(operand))
        run = e.loadRun(operand.tile.element, address(operand, at, 0), unroll, alignment(operand));
      else if (!operand.scalar)
        for (int64_t u = 0; u < unroll; ++u)
          run[u] = u > 0 && !has(operand, fast) ? run[0] : e.load(operand.tile.element, address(operand, at, u));
      for (int64_t u = 0; u < unroll; ++u)
        values[u].map(operand.argument, run[u]);
    };
    for (const Operand &input : inputs)
      load(input);
    DenseSet<Value> late; // what depends on a result so far
    for (const Operand &output : outputs)
      if (output.accumulated)
        late.insert(output.argument);
      else
        load(output);

    auto emit = [&](Operation &inner, int64_t u) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        values[u].map(index.getResult(), loopIndex(loopOf[index.getDim()], at, u));
      else if (auto swap = dyn_cast<SwapLanesOp>(inner))
        values[u].map(swap.getResult(),
                      values[unroll == 1 ? 0 : u ^ 1].lookupOrDefault(static_cast<Value>(swap.getValue())));
      else
        b.clone(inner, values[u]);
    };
    SmallVector<Operation *> later;
    for (Operation &inner : op.getBody()->without_terminator()) {
      if (llvm::any_of(inner.getOperands(), [&](Value operand) { return late.contains(operand); })) {
        for (Value result : inner.getResults())
          late.insert(result);
        later.push_back(&inner);
        continue;
      }
      for (int64_t u = 0; u < unroll; ++u)
        emit(inner, u);
    }
    const SmallVector<size_t> accumulated = accumulators();
    Operation *yield = op.getBody()->getTerminator();
    for (int64_t u = 0; u < unroll; ++u) {
      MutableArrayRef<Value> own(sums);
      if (sums.size() > accumulated.size()) // a result for each element
        own = own.slice(static_cast<size_t>(u) * accumulated.size(), accumulated.size());
      for (auto [i, sum] : llvm::zip_equal(accumulated, own))
        values[u].map(outputs[i].argument, sum);
      for (Operation *inner : later)
        emit(*inner, u);
      for (auto [i, sum] : llvm::zip_equal(accumulated, own))
        sum = values[u].lookupOrDefault(yield->getOperand(i));
    }
    for (auto [i, output] : llvm::enumerate(outputs)) {
      if (output.accumulated)
        continue;
      SmallVector<Value> run;
      for (int64_t u = 0; u < unroll; ++u)
        run.push_back(values[u].lookupOrDefault(yield->getOperand(i)));
      if (isRun(output))
        e.storeRun(run, address(output, at, 0), alignment(output));
      else
        for (int64_t u = 0; u < unroll; ++u)
          e.store(run[u], address(output, at, u));
    }
    return sums;
  }

  Value loopIndex(int64_t loop, const Counters &at, int64_t u) {
    Value number = loop < 0 ? e.constant(0) : e.add(at[loop], loop == fast ? u : 0);
    return arith::IndexCastOp::create(b, e.loc, b.getIndexType(), number);
  }

  // Sets the counters of some loops from one number; the fast loop, if among them, goes fastest and in steps.
  void setCounters(Counters &at, ArrayRef<size_t> loops, Value number) {
    SmallVector<size_t> order(loops);
    if (llvm::is_contained(order, static_cast<size_t>(fast))) {
      llvm::erase(order, static_cast<size_t>(fast));
      order.push_back(static_cast<size_t>(fast));
    }
    SmallVector<int64_t> turns;
    for (size_t loop : order)
      turns.push_back(static_cast<int64_t>(loop) == fast ? extents[loop] / unroll : extents[loop]);
    for (auto [loop, digit] : llvm::zip_equal(order, e.digits(number, turns)))
      at[loop] = static_cast<int64_t>(loop) == fast ? e.mul(digit, unroll) : digit;
  }

  // The number of turns through some loops, the fast one in steps.
  int64_t turns(ArrayRef<size_t> loops) const {
    return count(loops) / (llvm::is_contained(loops, static_cast<size_t>(fast)) ? unroll : 1);
  }

  // ---- no result is accumulated

  void emitMap() {
    e.shareOut(turns(kept), [&](Value i) {
      Counters at(extents.size());
      setCounters(at, kept, i);
      evaluate(at, {});
    });
  }

  // ---- accumulated results

  SmallVector<Value> before(const Counters &at, int64_t u = 0) {
    SmallVector<Value> values;
    for (size_t i : accumulators())
      values.push_back(e.load(outputs[i].tile.element, address(outputs[i], at, u)));
    return values;
  }

  SmallVector<Value> neutral() {
    SmallVector<Value> values;
    for (size_t i : accumulators())
      values.push_back(e.zeroOf(outputs[i].tile.element, outputs[i].fold.neutral));
    return values;
  }

  void finish(const Counters &at, ValueRange sums, int64_t u = 0) {
    for (auto [i, sum] : llvm::zip_equal(accumulators(), sums))
      e.store(sum, address(outputs[i], at, u));
  }

  SmallVector<Value> joined(ValueRange soFar, ValueRange more) {
    SmallVector<Value> values;
    for (auto [i, x, y] : llvm::zip_equal(accumulators(), soFar, more))
      values.push_back(join(b, e.loc, outputs[i].fold, x, y));
    return values;
  }

  // Every step-th turn of the reduced loops from `first` on, in order.
  SmallVector<Value> runReduced(Counters at, Value first, int64_t step, SmallVector<Value> sums) {
    if (getConstantIntValue(first) && reduced.size() > 1 && step == 1)
      return runInOrder(at, 0, sums);
    return e.loop(first, e.constant(turns(reduced)), step, sums, [&](Value i, ValueRange carried) {
      Counters inner = at;
      setCounters(inner, reduced, i);
      return evaluate(inner, SmallVector<Value>(carried));
    });
  }

  // The reduced loops as they stand.
  SmallVector<Value> runInOrder(Counters &at, size_t depth, SmallVector<Value> sums) {
    if (depth == reduced.size())
      return evaluate(at, sums);
    const size_t loop = reduced[depth];
    return e.loop(0, extents[loop], static_cast<int64_t>(loop) == fast ? unroll : 1, sums,
                  [&](Value i, ValueRange carried) {
                    at[loop] = i;
                    return runInOrder(at, depth + 1, SmallVector<Value>(carried));
                  });
  }

  void emitReduction() {
    const bool alongSum = llvm::is_contained(reduced, static_cast<size_t>(fast));
    if (swaps && !alongSum) {
      unroll = 2;
      return emitPairs();
    }
    // Neighbours along a kept loop are results of their own, and what is no fold is computed in order.
    if (!swaps && (!alongSum || !foldsAreKnown()))
      unroll = 1;
    const int64_t results = count(kept);
    if (!foldsAreKnown())
      return emitThreadEach();
    if (alongSum) {
      if (results <= 2 && turns(reduced) >= 4 * threads)
        return emitBlockEach();
      int64_t lanes = 1;
      while (lanes < lanesOfWarp && 2 * lanes <= turns(reduced))
        lanes *= 2;
      return lanes == 1 ? emitThreadEach() : emitLanesEach(lanes);
    }
    const int64_t helpers = std::min(threads / results, count(reduced) / 4);
    return helpers < 2 ? emitThreadEach() : emitThroughMemory(helpers);
  }

  void emitThreadEach() {
    e.shareOut(count(kept), [&](Value i) {
      Counters at(extents.size());
      setKept(at, i);
      finish(at, runReduced(at, e.constant(0), 1, before(at)));
    });
  }

  // Counters of the kept loops, none of them in steps.
  void setKept(Counters &at, Value number) {
    const int64_t steps = std::exchange(unroll, 1);
    setCounters(at, kept, number);
    unroll = steps;
  }

  // Lanes that differ in the low bits share a result: each takes every lanes-th element, then they are joined.
  void emitLanesEach(int64_t lanes) {
    const int64_t results = count(kept), atOnce = threads / lanes;
    Value lane = e.rem(e.thread(), lanes), group = e.div(e.thread(), lanes);
    // All threads go through all turns, because shuffles need every lane.
    e.loop(0, results, atOnce, {}, [&](Value start, ValueRange) {
      Value result = e.add(start, group);
      Value inside = results % atOnce == 0 ? Value() : e.less(result, results);
      Counters at(extents.size());
      setKept(at, result);
      SmallVector<Value> sums = e.when(inside, neutral(), [&] { return runReduced(at, lane, lanes, neutral()); });
      for (int64_t bit = lanes / 2; bit >= 1; bit /= 2)
        sums = shuffled(sums, bit);
      e.when(e.both(inside, e.less(lane, 1)), [&] { finish(at, joined(before(at), sums)); });
      return SmallVector<Value>{};
    });
  }

  SmallVector<Value> shuffled(ArrayRef<Value> sums, int64_t bit) {
    SmallVector<Value> others;
    for (Value sum : sums)
      others.push_back(e.fromLane(sum, bit));
    return joined(sums, others);
  }

  Value stagingSlot(size_t accumulator, Value at) {
    Type element = outputs[accumulators()[accumulator]].tile.element;
    return e.at(e.at(e.staging(), b.getI8Type(), 4 * threads * static_cast<int64_t>(accumulator)), element, at);
  }

  void stage(ValueRange sums, Value at) {
    for (auto [i, sum] : llvm::enumerate(sums))
      e.store(sum, stagingSlot(i, at));
  }

  SmallVector<Value> staged(Value at) {
    SmallVector<Value> values;
    for (auto [i, output] : llvm::enumerate(accumulators()))
      values.push_back(e.load(outputs[output].tile.element, stagingSlot(i, at)));
    return values;
  }

  // The whole block for one result after the other.
  void emitBlockEach() {
    const int64_t warps = threads / lanesOfWarp;
    e.loop(0, count(kept), 1, {}, [&](Value result, ValueRange) {
      Counters at(extents.size());
      setKept(at, result);
      SmallVector<Value> sums = runReduced(at, e.thread(), threads, neutral());
      for (int64_t bit = lanesOfWarp / 2; bit >= 1; bit /= 2)
        sums = shuffled(sums, bit);
      Value lane = e.rem(e.thread(), lanesOfWarp), warp = e.div(e.thread(), lanesOfWarp);
      e.when(e.less(lane, 1), [&] { stage(sums, warp); });
      e.barrier();
      e.when(e.less(e.thread(), 1), [&] {
        SmallVector<Value> total = before(at);
        for (int64_t w = 0; w < warps; ++w)
          total = joined(total, staged(e.constant(w)));
        finish(at, total);
      });
      if (count(kept) > 1)
        e.barrier(); // the next result's parts come to the same place
      return SmallVector<Value>{};
    });
  }

  // `helpers` threads for each result, neighbours along the results.
  void emitThroughMemory(int64_t helpers) {
    const int64_t results = count(kept);
    Value helper = e.div(e.thread(), results), result = e.rem(e.thread(), results);
    Counters at(extents.size());
    setKept(at, result);
    e.when(helpers * results == threads ? Value() : e.less(e.thread(), helpers * results),
           [&] { stage(runReduced(at, helper, helpers, neutral()), e.thread()); });
    e.barrier();
    e.when(e.less(e.thread(), results), [&] {
      SmallVector<Value> total = before(at);
      for (int64_t h = 0; h < helpers; ++h)
        total = joined(total, staged(e.add(e.thread(), h * results)));
      finish(at, total);
    });
  }

  // Results in pairs along the last loop whose values are swapped: a thread has both.
  void emitPairs() {
    e.shareOut(turns(kept), [&](Value i) {
      Counters at(extents.size());
      setCounters(at, kept, i);
      SmallVector<Value> sums;
      for (int64_t u = 0; u < unroll; ++u)
        llvm::append_range(sums, before(at, u));
      sums = runReduced(at, e.constant(0), 1, sums);
      for (int64_t u = 0; u < unroll; ++u)
        finish(at, ArrayRef<Value>(sums).slice(u * accumulators().size(), accumulators().size()), u);
    });
  }

  // ---- results that lack different loops: one thread, all in order

  void emitInOrder() {
    fast = -1;
    e.when(e.less(e.thread(), 1), [&] {
      Counters at(extents.size());
      std::function<void(size_t)> nest = [&](size_t loop) {
        if (loop == extents.size()) {
          SmallVector<Value> sums;
          for (size_t i : accumulators())
            sums.push_back(e.load(outputs[i].tile.element, address(outputs[i], at, 0)));
          finish(at, evaluate(at, sums));
          return;
        }
        e.loop(0, extents[loop], 1, {}, [&](Value i, ValueRange) {
          at[loop] = i;
          nest(loop + 1);
          return SmallVector<Value>{};
        });
      };
      nest(0);
    });
  }
};

struct LowerNests : impl::GpuLowerNestsBase<LowerNests> {
  void runOnOperation() override {
    if (!isKernel(getOperation()))
      return;
    SmallVector<linalg::GenericOp> nests;
    getOperation().walk([&](linalg::GenericOp nest) { nests.push_back(nest); });
    for (linalg::GenericOp nest : nests) {
      OpBuilder b(nest);
      if (failed(Nest(b, nest).lower()))
        return signalPassFailure();
      nest.erase();
    }
  }
};

} // namespace
} // namespace burin
