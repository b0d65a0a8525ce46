// linalg.generic on tiles becomes loops over vectors. The last loop of a nest is cut into blocks of lanes; values that
// do not depend on it stay scalars, one for all lanes. Where a result lacks an outer loop, the lane blocks go outermost
// and the result stays in registers all the way down; where it lacks the last loop, each block adds to vectors of
// partial results, joined once at the end.
#include "codegen/cpu/cpu.h"
#include "codegen/cpu/tile.h"
#include "codegen/nest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace burin {

#define GEN_PASS_DEF_CPULOWERNESTS
#include "codegen/cpu/passes.h.inc"

using namespace mlir;
using namespace cpu;

namespace {

struct Operand {
  Tile tile;
  SmallVector<int64_t> strides; // by loop; 0 where the operand lacks it
  BlockArgument argument;       // of the nest's body
  // Results alone:
  bool accumulated = false; // lacks a loop
  Fold fold;                // set where it lacks the lane loop
  size_t scope = 0;         // its registers live inside the first `scope` loops of the order
};

// A run of lanes: starts `offset` after the counter of the loop over blocks.
struct LaneBlock {
  int64_t offset, active;
};

// What one result carries: registers for each unrolled row (if it has the row loop) and each block of lanes.
using Registers = SmallVector<Value>;

class Nest : NestLoops<Operand> {
public:
  Nest(OpBuilder &b, linalg::GenericOp op, TargetAttr target)
      : NestLoops(op), b(b), e{b, op.getLoc()}, target(target) {}

  LogicalResult lower() {
    if (failed(read([&](Value value, Operand &operand) { return resolve(b, op.getLoc(), value, operand); })))
      return failure();
    choose();
    bool swaps = !op.getBody()->getOps<SwapLanesOp>().empty();
    if (swaps && lane >= 0 && lanes == 1)
      return op.emitError(
          "internal error: lanes cannot be swapped in a nest that runs element by element (please report)");
    SmallVector<Registers> none(outputs.size());
    emit(0, none);
    return success();
  }

private:
  OpBuilder &b;
  Emitter e;
  TargetAttr target;

  SmallVector<size_t> order;     // of loops, outermost first
  int64_t lane = -1, row = -1;   // the loop that becomes lanes; the loop that is unrolled by rows; -1: none
  int64_t lanes = 1, unroll = 1; // lanes of a vector, and blocks of them at a time
  int64_t rowsAtOnce = 1;

  // While emitting: where each loop stands, the blocks and rows at hand, and operands loaded so far ([row][block]).
  SmallVector<Value> counters;
  SmallVector<LaneBlock> blocks{{0, 1}};
  int64_t rows = 1;
  SmallVector<SmallVector<Value>> loaded;

  bool has(const Operand &operand, int64_t loop) const { return loop >= 0 && operand.strides[loop] != 0; }

  // The number of loops, in order, that must run before the operand's address is known.
  size_t depth(const Operand &operand) const {
    size_t depth = 0;
    for (auto [position, loop] : llvm::enumerate(order))
      if (has(operand, loop))
        depth = position + 1;
    return depth;
  }

  // ---- what the nest is

  static LogicalResult resolve(OpBuilder &b, Location loc, Value value, Operand &operand) {
    if (!isa<MemRefType>(value.getType())) {
      operand.tile.element = value.getType();
      operand.tile.flat = value;
      return success();
    }
    operand.tile = resolveTile(b, loc, value);
    return success(operand.tile.flat != nullptr);
  }

  // Rough cost of the body in vector instructions.
  int64_t bodyCost() {
    int64_t cost = 0;
    for (Operation &inner : op.getBody()->without_terminator())
      cost += isa<math::ExpOp, math::Exp2Op, math::LogOp>(inner)       ? 20
              : isa<math::TanhOp, math::ErfOp>(inner)                  ? 40
              : isa<math::SinOp, math::CosOp>(inner)                   ? 200
              : isa<arith::DivFOp, math::SqrtOp, math::RsqrtOp>(inner) ? 4
                                                                       : 1;
    return cost;
  }

  static int64_t powerOfTwoAtLeast(int64_t value) {
    int64_t power = 1;
    while (power < value)
      power *= 2;
    return power;
  }

  // Which loops become lanes and rows, in which order, and how much is unrolled: by shapes and target facts alone.
  void choose() {
    lane = static_cast<int64_t>(extents.size()) - 1;
    bool acrossRows = false, acrossLanes = false; // a result that is accumulated with, or over, the lane loop
    bool scalar = lane < 0;
    for (Operand &output : outputs) {
      output.accumulated = llvm::is_contained(output.strides, 0);
      if (!output.accumulated)
        continue;
      if (has(output, lane)) {
        acrossRows = true;
        continue;
      }
      acrossLanes = true;
      output.fold = foldOf(op, output.argument);
      scalar |= !output.fold.op; // in order, one element after the other
    }
    // Lanes beyond a tail hold zeros, which must not be divided by.
    op.getBody()->walk([&](Operation *inner) {
      scalar |= isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(inner);
    });
    if (!scalar)
      lanes = std::min<int64_t>(target.getLanes(), powerOfTwoAtLeast(extents[lane]));

    int64_t cost = bodyCost();
    // The loops that results lack go innermost, so that registers live as long as they can.
    auto outer = llvm::to_vector(llvm::seq<size_t>(0, lane < 0 ? 0 : lane));
    auto lacking = [&](size_t loop) {
      return llvm::count_if(outputs, [&](Operand &o) { return o.accumulated && !has(o, loop); });
    };
    llvm::stable_sort(outer, [&](size_t x, size_t y) { return lacking(x) < lacking(y); });

    // A tile that is contiguous along another loop than the lanes' is read or written as squares, transposed in
    // registers.
    if (lanes > 1)
      for (Operand *operand : fullOperands())
        if (row < 0 && has(*operand, lane) && operand->strides[lane] != 1)
          for (size_t loop : outer)
            if (operand->strides[loop] == 1 && extents[loop] > 1 && cost <= 64)
              row = loop;
    if (row >= 0) {
      lanes = target.getLanes();
      rowsAtOnce = std::min(lanes, powerOfTwoAtLeast(extents[row]));
      rowsAtOnce = std::min<int64_t>(rowsAtOnce, extents[row]);
    } else if (acrossLanes && !acrossRows && !scalar && !outer.empty() && extents[lane] <= 2 * lanes && cost <= 64) {
      // Rows of one or two vectors: several of them hide the latency of joining lanes.
      row = outer.back();
      for (const Operand &output : outputs)
        if (output.accumulated && !has(output, row))
          row = -1;
      rowsAtOnce = row < 0 ? 1 : std::min<int64_t>(4, extents[row]);
    }
    if (row >= 0) {
      llvm::erase(outer, static_cast<size_t>(row));
      outer.push_back(row);
    }

    order.clear();
    if (acrossRows)
      order.push_back(lane);
    llvm::append_range(order, outer);
    if (!acrossRows && lane >= 0)
      order.push_back(lane);
    for (Operand &output : outputs)
      output.scope = depth(output);

    if (lanes > 1 && rowsAtOnce == 1) {
      if (acrossRows || acrossLanes)
        unroll =
            std::max<int64_t>(1, std::min<int64_t>(cost <= 24 ? 4 : 2, target.getRegisters() / (4 * outputs.size())));
      else
        unroll = cost <= 8 ? 4 : cost <= 24 ? 2 : 1;
    }
    counters.assign(extents.size(), Value());
    loaded.assign(inputs.size() + outputs.size(), {});
  }

  // Operands that are read or written element by element, not accumulated.
  SmallVector<Operand *> fullOperands() {
    SmallVector<Operand *> list;
    for (Operand &input : inputs)
      list.push_back(&input);
    for (Operand &output : outputs)
      if (!output.accumulated)
        list.push_back(&output);
    return list;
  }

  // ---- memory

  Value address(const Operand &operand, int64_t r, const LaneBlock &block) {
    Value at = operand.tile.offset;
    int64_t constant = 0;
    for (size_t loop : order)
      if (has(operand, loop))
        at = e.add(at, e.mul(counters[loop], operand.strides[loop]));
    if (has(operand, row))
      constant += r * operand.strides[row];
    if (has(operand, lane))
      constant += block.offset * operand.strides[lane];
    return e.add(at, constant);
  }

  int64_t variants(const Operand &operand) const {
    return (has(operand, row) ? rows : 1) * (has(operand, lane) ? blocks.size() : 1);
  }
  size_t variant(const Operand &operand, int64_t r, size_t u) const {
    return (has(operand, row) ? r : 0) * (has(operand, lane) ? blocks.size() : 1) + (has(operand, lane) ? u : 0);
  }

  bool isTransposed(const Operand &operand) const {
    return rows > 1 && lanes == target.getLanes() && lanes > 1 && has(operand, lane) && operand.strides[lane] != 1 &&
           operand.strides[row] == 1;
  }

  SmallVector<Value> loadAll(const Operand &operand) {
    if (!isa<MemRefType>(operand.tile.flat.getType()))
      return {operand.tile.flat};
    SmallVector<Value> values(variants(operand));
    for (auto [u, block] : llvm::enumerate(blocks)) {
      if (isTransposed(operand)) {
        SmallVector<Value> columns(lanes, e.splat(VectorType::get({lanes}, operand.tile.element), 0));
        for (int64_t i = 0; i < block.active; ++i)
          columns[i] =
              e.load(operand.tile.flat, e.add(address(operand, 0, block), i * operand.strides[lane]), 1, lanes, rows);
        SmallVector<Value> square = e.transpose(columns);
        for (int64_t r = 0; r < rows; ++r)
          values[variant(operand, r, u)] = square[r];
        continue;
      }
      for (int64_t r = 0; r < (has(operand, row) ? rows : 1); ++r)
        values[variant(operand, r, u)] = e.load(operand.tile.flat, address(operand, r, block),
                                                has(operand, lane) ? operand.strides[lane] : 0, lanes, block.active);
      if (!has(operand, lane))
        break;
    }
    return values;
  }

  // values: [row][block]
  void storeAll(const Operand &operand, ArrayRef<Value> values) {
    for (auto [u, block] : llvm::enumerate(blocks)) {
      if (isTransposed(operand)) {
        SmallVector<Value> square(lanes, e.splat(VectorType::get({lanes}, operand.tile.element), 0));
        for (int64_t r = 0; r < rows; ++r)
          square[r] = values[variant(operand, r, u)];
        SmallVector<Value> columns = e.transpose(square);
        for (int64_t i = 0; i < block.active; ++i)
          e.store(columns[i], operand.tile.flat, e.add(address(operand, 0, block), i * operand.strides[lane]), 1, rows);
        continue;
      }
      for (int64_t r = 0; r < (has(operand, row) ? rows : 1); ++r)
        e.store(values[variant(operand, r, u)], operand.tile.flat, address(operand, r, block),
                has(operand, lane) ? operand.strides[lane] : 0, block.active);
      if (!has(operand, lane))
        break;
    }
  }

  // ---- accumulated results

  // The registers of a result that lacks the lane loop: one partial result for each row and each of the unrolled
  // blocks.
  Registers begin(const Operand &output, size_t position) {
    if (!output.fold.op || lanes == 1)
      return loadAll(output);
    // Outside the lane loop its blocks are not known yet; inside they are those at hand.
    int64_t partial = position <= static_cast<size_t>(llvm::find(order, static_cast<size_t>(lane)) - order.begin())
                          ? unroll
                          : blocks.size();
    Value neutral = e.splat(VectorType::get({lanes}, output.tile.element), output.fold.neutral);
    return Registers(variants(output) * partial, neutral);
  }

  void finish(const Operand &output, Registers &registers) {
    if (output.fold.op && lanes > 1) {
      int64_t count = variants(output), partial = registers.size() / count;
      SmallVector<Value> before = loadAll(output), after;
      for (int64_t v = 0; v < count; ++v) {
        SmallVector<Value> parts(ArrayRef<Value>(registers).slice(v * partial, partial));
        for (; parts.size() > 1; parts.truncate((parts.size() + 1) / 2))
          for (size_t i = 0, half = (parts.size() + 1) / 2; half + i < parts.size(); ++i)
            parts[i] = join(b, e.loc, output.fold, parts[i], parts[half + i]);
        Value joined = e.reduce(parts[0], [&](Value x, Value y) { return join(b, e.loc, output.fold, x, y); });
        after.push_back(join(b, e.loc, output.fold, before[v], joined));
      }
      registers = after;
    }
    storeAll(output, registers);
  }

  // ---- loops

  // Everything inside the first `position` loops of the order. `registers` are those of results whose scope has begun;
  // updated in place.
  void emit(size_t position, SmallVector<Registers> &registers) {
    for (auto [i, input] : llvm::enumerate(inputs))
      if (depth(input) == position)
        loaded[i] = loadAll(input);
    for (auto [i, output] : llvm::enumerate(outputs))
      if (output.accumulated && output.scope == position)
        registers[i] = begin(output, position);

    if (position == order.size())
      emitBody(registers);
    else if (static_cast<int64_t>(order[position]) == lane)
      emitLaneLoop(position, registers);
    else
      emitLoop(position, registers);

    for (auto [i, output] : llvm::enumerate(outputs))
      if (output.accumulated && output.scope == position) {
        finish(output, registers[i]);
        registers[i].clear();
      }
  }

  // Runs loop order[position] from `from`; the registers are its carried values.
  void emitTurns(size_t position, int64_t from, int64_t count, int64_t step, SmallVector<Registers> &registers) {
    SmallVector<Value> carried;
    for (Registers &one : registers)
      llvm::append_range(carried, one);
    SmallVector<Value> results = e.loop(count, step, carried, [&](Value i, ValueRange values) {
      counters[order[position]] = e.add(i, from);
      unflatten(values, registers);
      emit(position + 1, registers);
      SmallVector<Value> next;
      for (Registers &one : registers)
        llvm::append_range(next, one);
      return next;
    });
    unflatten(results, registers);
  }

  static void unflatten(ValueRange values, SmallVector<Registers> &registers) {
    for (Registers &one : registers)
      for (Value &value : one) {
        value = values.front();
        values = values.drop_front();
      }
  }

  void emitLoop(size_t position, SmallVector<Registers> &registers) {
    int64_t extent = extents[order[position]];
    if (static_cast<int64_t>(order[position]) != row) {
      emitTurns(position, 0, extent, 1, registers);
      return;
    }
    int64_t whole = extent / rowsAtOnce * rowsAtOnce;
    rows = rowsAtOnce;
    emitTurns(position, 0, whole, rowsAtOnce, registers);
    if (extent > whole) {
      rows = extent - whole;
      emitTurns(position, whole, rows, rows, registers);
    }
    rows = 1;
  }

  void emitLaneLoop(size_t position, SmallVector<Registers> &registers) {
    int64_t extent = extents[lane], full = extent / lanes, turns = full / unroll;
    auto setBlocks = [&](int64_t count, int64_t tail) {
      blocks.clear();
      for (int64_t u = 0; u < count; ++u)
        blocks.push_back({u * lanes, lanes});
      if (tail > 0)
        blocks.push_back({count * lanes, tail});
    };
    if (turns > 0) {
      setBlocks(unroll, 0);
      emitTurns(position, 0, turns * unroll * lanes, unroll * lanes, registers);
    }
    int64_t done = turns * unroll * lanes;
    if (done < extent) {
      setBlocks(full - turns * unroll, extent % lanes);
      emitTurns(position, done, extent - done, extent - done, registers);
    }
    blocks = {{0, 1}};
  }

  // ---- the body

  void emitBody(SmallVector<Registers> &registers) {
    for (auto [i, output] : llvm::enumerate(outputs))
      if (!output.accumulated && !output.argument.use_empty())
        loaded[inputs.size() + i] = loadAll(output);

    SmallVector<SmallVector<Value>> full(outputs.size());
    for (auto [i, output] : llvm::enumerate(outputs))
      if (!output.accumulated)
        full[i].resize(variants(output));

    for (int64_t r = 0; r < rows; ++r)
      for (size_t u = 0; u < blocks.size(); ++u) {
        IRMapping values;
        for (auto [i, input] : llvm::enumerate(inputs))
          values.map(input.argument, loaded[i][isa<MemRefType>(input.tile.flat.getType()) ? variant(input, r, u) : 0]);
        for (auto [i, output] : llvm::enumerate(outputs)) {
          if (output.accumulated)
            values.map(output.argument, registers[i][slot(output, registers[i], r, u)]);
          else if (!output.argument.use_empty())
            values.map(output.argument, loaded[inputs.size() + i][variant(output, r, u)]);
        }
        for (Operation &inner : op.getBody()->without_terminator())
          emitOp(inner, values, r, blocks[u]);
        for (auto [i, output] : llvm::enumerate(outputs)) {
          Value result = values.lookupOrDefault(op.getBody()->getTerminator()->getOperand(i));
          if (lanes > 1 && !isa<VectorType>(result.getType()) && (has(output, lane) || output.fold.op))
            result = e.broadcast(result, lanes);
          if (!output.accumulated) {
            full[i][variant(output, r, u)] = result;
            continue;
          }
          Value &now = registers[i][slot(output, registers[i], r, u)];
          now = output.fold.op && lanes > 1 ? e.firstLanes(blocks[u].active, result, now) : result;
        }
      }

    for (auto [i, output] : llvm::enumerate(outputs))
      if (!output.accumulated)
        storeAll(output, full[i]);
  }

  size_t slot(const Operand &output, const Registers &registers, int64_t r, size_t u) const {
    if (!output.fold.op || lanes == 1)
      return variant(output, r, u);
    size_t partial = registers.size() / variants(output);
    return (has(output, row) ? r : 0) * partial + u;
  }

  void emitOp(Operation &inner, IRMapping &values, int64_t r, const LaneBlock &block) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      values.map(index.getResult(), loopIndex(loopOf[index.getDim()], r, block));
      return;
    }
    SmallVector<Value> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(values.lookupOrDefault(operand));
    bool isVector = llvm::any_of(operands, [](Value value) { return isa<VectorType>(value.getType()); });
    if (auto swap = dyn_cast<SwapLanesOp>(inner)) {
      values.map(swap.getResult(), isVector ? swapLanes(operands[0]) : operands[0]);
      return;
    }
    if (!isVector) {
      b.clone(inner, values);
      return;
    }
    for (Value &operand : operands)
      if (!isa<VectorType>(operand.getType()))
        operand = e.broadcast(operand, lanes);
    // Lanes beyond a tail are zeros, and LLVM takes 0/0 for zero: it drops the select that would keep the NaN out of a
    // sum (SimplifyDemandedVectorElts treats division like addition; seen in LLVM 22).
    if (isa<arith::DivFOp>(inner))
      operands[1] = e.firstLanes(block.active, operands[1], e.splat(operands[1].getType(), 1));
    SmallVector<Type> types;
    for (Type type : inner.getResultTypes())
      types.push_back(VectorType::get({lanes}, type));
    OperationState state(inner.getLoc(), inner.getName(), operands, types, inner.getAttrs());
    values.map(inner.getResults(), b.create(state)->getResults());
  }

  Value loopIndex(int64_t loop, int64_t r, const LaneBlock &block) {
    if (loop < 0)
      return e.index(0);
    if (loop != lane)
      return e.add(counters[loop], loop == row ? r : 0);
    Value start = e.add(counters[lane], block.offset);
    if (lanes == 1)
      return start;
    auto steps = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
    auto type = VectorType::get({lanes}, b.getIndexType());
    Value step = arith::ConstantOp::create(b, e.loc, DenseIntElementsAttr::get(type, steps));
    return arith::AddIOp::create(b, e.loc, e.broadcast(start, lanes), step);
  }

  Value swapLanes(Value vector) {
    SmallVector<int64_t> order;
    for (int64_t i = 0; i < lanes; ++i)
      order.push_back(i ^ 1);
    return vector::ShuffleOp::create(b, e.loc, vector, vector, order);
  }
};

struct LowerNests : impl::CpuLowerNestsBase<LowerNests> {
  void runOnOperation() override {
    TargetAttr target = kernelTarget(getOperation());
    if (!target) {
      if (getOperation()->hasAttr("burin.kernel"))
        signalPassFailure();
      return;
    }
    SmallVector<linalg::GenericOp> nests;
    getOperation().walk([&](linalg::GenericOp nest) { nests.push_back(nest); });
    for (linalg::GenericOp nest : nests) {
      OpBuilder b(nest);
      if (failed(Nest(b, nest, target).lower()))
        return signalPassFailure();
      nest.erase();
    }
  }
};

} // namespace
} // namespace burin
