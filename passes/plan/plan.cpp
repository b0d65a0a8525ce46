// burin-plan: gives every tensor between groups a buffer and an offset. Activations share the arena: two of them may
// overlap in memory only where they are never alive at the same time.
//
// Placement is greedy, largest first, each at the lowest offset that is free over its whole life. It finds the lower
// bound (the most bytes alive at once) for the models in models/; README.md has the figures and what else was tried.
#include "passes/ir/burin.h"
#include "passes/passes.h"
#include "passes/plan/buffers.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace burin {

#define GEN_PASS_DEF_PLAN
#include "passes/passes.h.inc"

namespace {

constexpr int64_t alignment = 64;

// A place in the arena and the values that lie there, one after the other, each written over the one before.
struct Tensor {
  SmallVector<Value, 1> values;
  int64_t bytes = 0;
  int first = 0, last = 0; // positions of the group that makes the first and of the last that reads one
  int64_t offset = 0;
};

// Where a value lies.
struct Location {
  int64_t buffer = -1, offset = 0;
};

// Whether the op of a group that tiles itself adds something into this input and nothing else reads it.
bool addsInto(GroupOp group, unsigned input) {
  BlockArgument argument = group.getBody().getArgument(input);
  auto adds = argument.hasOneUse() ? dyn_cast<AddsInto>(*argument.user_begin()) : nullptr;
  return adds && argument.use_begin()->getOperandNumber() == adds.startOperand();
}

// Reading and writing the same element in one group is fine; anything else between a value and what replaces it in
// place is not. A sum over rows (`maySum`) reads each of them before its last sweep begins.
bool readsInPlace(GroupOp group, unsigned input, bool maySum = false) {
  if (group.getKind() == "self")
    return addsInto(group, input);
  if (group.getKind() != "rows" && group.getKind() != "contraction")
    return false;
  BlockArgument argument = group.getBody().getArgument(input);
  return llvm::all_of(argument.getUsers(), [&](Operation *user) {
    return (isa<Elementwise>(user) && user->getResult(0).getType() == argument.getType()) ||
           (maySum && isa<Reduction>(user));
  });
}

// Needs whole rows of its operand before the first element of its result: those are swept again afterwards.
bool endsSweep(Operation &op) { return isa<Reduction, RowPermuting>(op); }

// Whether a value is computed when all sums and maxima of its rows are known: nothing reads the rows again after it.
bool isInLastSweep(GroupOp group, Value value) {
  DenseMap<Value, int> sweeps; // those before an op can run
  int last = 0;
  for (Operation &op : group.getBody().front().without_terminator()) {
    int sweep = 0;
    for (Value operand : op.getOperands())
      sweep = std::max(sweep, sweeps.lookup(operand));
    for (Value result : op.getResults())
      sweeps[result] = sweep + endsSweep(op);
    last = std::max(last, sweep + endsSweep(op));
  }
  return sweeps.lookup(value) == last;
}

// Whether a result of the group may be written over an input: made in one sweep, element by element, or, where rows are
// swept several times, in the last one; or with something added to a few of its elements.
bool mayOverwrite(GroupOp group, unsigned input, unsigned output) {
  if (group.getInputs()[input].getType() != group.getOutputs()[output].getType())
    return false;
  if (group.getKind() == "self")
    return addsInto(group, input) && llvm::count(group.getInputs(), group.getInputs()[input]) == 1;
  const bool sums = llvm::any_of(group.getBody().front(), endsSweep);
  Value value = group.getBody().front().getTerminator()->getOperand(output);
  if ((sums || group.getOutputs().size() > 1) && (group.getKind() != "rows" || !isInLastSweep(group, value)))
    return false;
  if (!isa_and_present<Elementwise>(value.getDefiningOp()))
    return false;
  // All the ways by which the value comes in.
  for (auto [i, other] : llvm::enumerate(group.getInputs()))
    if (other == group.getInputs()[input] && !readsInPlace(group, i, /*maySum=*/true))
      return false;
  return true;
}

class Planning {
public:
  explicit Planning(func::FuncOp entry) : entry(entry) {}

  LogicalResult run() {
    Block &body = entry.getBody().front();
    for (Operation &op : body.without_terminator())
      groups.push_back(cast<GroupOp>(op));
    placeArguments();
    if (failed(placeResults()))
      return failure();
    placeActivations();
    write();
    return success();
  }

private:
  int64_t take(int64_t &end, int64_t bytes) {
    int64_t at = end;
    end += llvm::alignTo(std::max<int64_t>(bytes, 1), alignment);
    return at;
  }

  void placeArguments() {
    OpBuilder b(entry.getContext());
    for (BlockArgument argument : entry.getArguments()) {
      unsigned i = argument.getArgNumber();
      auto role = entry.getArgAttrOfType<StringAttr>(i, "burin.role").getValue();
      if (role == "input")
        entry.setArgAttr(i, "burin.offset",
                         b.getI64IntegerAttr(take(bytes[inputsBuffer], bytesOf(argument.getType()))));
      note(argument, {bufferOf(role), entry.getArgAttrOfType<IntegerAttr>(i, "burin.offset").getInt()});
    }
  }

  LogicalResult placeResults() {
    OpBuilder b(entry.getContext());
    auto *terminator = entry.getBody().front().getTerminator();
    for (OpOperand &result : terminator->getOpOperands()) {
      unsigned i = result.getOperandNumber();
      auto role = entry.getResultAttrOfType<StringAttr>(i, "burin.role").getValue();
      if (role == "output")
        entry.setResultAttr(i, "burin.offset",
                            b.getI64IntegerAttr(take(bytes[outputsBuffer], bytesOf(result.get().getType()))));
      Location at{bufferOf(role), entry.getResultAttrOfType<IntegerAttr>(i, "burin.offset").getInt()};
      if (isa<BlockArgument>(result.get()) || locations.count(result.get()))
        return entry.emitError("internal error: result ")
               << i << " shares its memory with another value (please report)";
      if (Operation *reader = readerOfTheReplaced(at, result.get()))
        return reader->emitError(
            "internal error: reads a value after its place was taken by its successor (please report)");
      note(result.get(), at);
      placeParts(result.get(), at);
    }
    return success();
  }

  // What a result is written over, where it is made part by part, lies in the result's place from the first part on. A
  // former gradient that is still read afterwards keeps its place to itself.
  void placeParts(Value result, Location at) {
    for (Value made = result; made;) {
      auto maker = cast<GroupOp>(made.getDefiningOp());
      Value part; // of several the first, which has to be kept the longest
      for (auto [i, input] : llvm::enumerate(maker.getInputs()))
        if (input.getDefiningOp() && !locations.count(input) && lastReader(input) == maker &&
            mayOverwrite(maker, i, cast<OpResult>(made).getResultNumber()) && !readerOfTheReplaced(at, input) &&
            !(part && part.getDefiningOp()->isBeforeInBlock(input.getDefiningOp())))
          part = input;
      if (part)
        note(part, at);
      made = part;
    }
  }

  static Operation *lastReader(Value value) {
    Operation *last = nullptr;
    for (Operation *user : value.getUsers())
      if (!last || last->isBeforeInBlock(user))
        last = user;
    return last;
  }

  // The first op that reads an argument at `at` although `value`, which lies there as well, has taken its place: later
  // than the group that makes it, or there but not element by element. Null if there is none.
  Operation *readerOfTheReplaced(Location at, Value value) {
    auto maker = cast<GroupOp>(value.getDefiningOp());
    for (BlockArgument argument : entry.getArguments()) {
      const Location old = locations.lookup(argument);
      const bool overlap = old.buffer == at.buffer && old.offset < at.offset + bytesOf(value.getType()) &&
                           at.offset < old.offset + bytesOf(argument.getType());
      if (!overlap)
        continue;
      for (OpOperand &use : argument.getUses()) {
        Operation *user = use.getOwner();
        const bool before = user != maker && user->isBeforeInBlock(maker);
        const bool inPlace = user == maker && old.offset == at.offset && argument.getType() == value.getType() &&
                             readsInPlace(maker, use.getOperandNumber());
        if (!before && !inPlace)
          return user;
      }
    }
    return nullptr;
  }

  void placeActivations() {
    std::vector<Tensor> tensors;
    DenseMap<Value, size_t> tensorOf;
    DenseMap<Operation *, int> position;
    for (auto [i, group] : llvm::enumerate(groups))
      position[group] = i;
    auto lastRead = [&](Value value) {
      int last = position[value.getDefiningOp()];
      for (Operation *user : value.getUsers())
        last = std::max(last, position.lookup(user));
      return last;
    };
    // The tensor whose place a group's result takes: one that is read for the last time there.
    auto predecessor = [&](GroupOp group, unsigned output) -> std::optional<size_t> {
      for (auto [i, input] : llvm::enumerate(group.getInputs()))
        if (auto found = tensorOf.find(input); found != tensorOf.end() &&
                                               tensors[found->second].values.back() == input &&
                                               lastRead(input) == position[group] && mayOverwrite(group, i, output))
          return found->second;
      return std::nullopt;
    };
    for (GroupOp group : groups)
      for (auto [output, value] : llvm::enumerate(group.getOutputs())) {
        if (locations.count(value))
          continue;
        if (std::optional<size_t> taken = predecessor(group, output)) {
          tensors[*taken].values.push_back(value);
          tensors[*taken].last = lastRead(value);
          tensorOf[value] = *taken;
          continue;
        }
        tensorOf[value] = tensors.size();
        tensors.push_back({.values = {value},
                           .bytes = int64_t(llvm::alignTo(bytesOf(value.getType()), alignment)),
                           .first = position[group],
                           .last = lastRead(value)});
      }
    std::vector<Tensor *> order;
    for (Tensor &tensor : tensors)
      order.push_back(&tensor);
    llvm::stable_sort(order, [](Tensor *x, Tensor *y) { return x->bytes > y->bytes; });
    std::vector<Tensor *> placed; // by offset
    for (Tensor *tensor : order) {
      int64_t at = 0;
      for (Tensor *other : placed) {
        if (other->last < tensor->first || tensor->last < other->first)
          continue;
        if (other->offset >= at + tensor->bytes)
          break;
        at = std::max(at, other->offset + other->bytes);
      }
      tensor->offset = at;
      placed.insert(llvm::upper_bound(placed, tensor, [](Tensor *x, Tensor *y) { return x->offset < y->offset; }),
                    tensor);
      for (Value value : tensor->values)
        note(value, {arenaBuffer, at});
    }
  }

  void note(Value value, Location at) {
    locations[value] = at;
    bytes[at.buffer] =
        std::max<int64_t>(bytes[at.buffer], llvm::alignTo(at.offset + bytesOf(value.getType()), alignment));
  }

  void write() {
    OpBuilder b(entry.getContext());
    for (GroupOp group : groups) {
      SmallVector<int64_t> buffers, offsets;
      auto add = [&](Value value) {
        Location at = locations.lookup(value);
        buffers.push_back(at.buffer);
        offsets.push_back(at.offset);
      };
      llvm::for_each(group.getInputs(), add);
      llvm::for_each(group.getOutputs(), add);
      group->setAttr("burin.buffers", b.getDenseI64ArrayAttr(buffers));
      group->setAttr("burin.offsets", b.getDenseI64ArrayAttr(offsets));
    }
    entry->setAttr("burin.bytes", b.getDenseI64ArrayAttr(bytes));
  }

  func::FuncOp entry;
  SmallVector<GroupOp> groups;
  DenseMap<Value, Location> locations;
  int64_t bytes[buffersCount] = {};
};

struct PlanPass : impl::PlanBase<PlanPass> {
  void runOnOperation() override {
    if (getOperation()->hasAttr("burin.entry") && failed(Planning(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace

int64_t bufferOf(llvm::StringRef role) {
  return llvm::StringSwitch<int64_t>(role)
      .Case("parameter", 0)
      .Case("gradient", 1)
      .Case("state", 2)
      .Case("input", inputsBuffer)
      .Case("output", outputsBuffer);
}

LogicalResult checkPlan(func::FuncOp entry) {
  // Replays the launches: every byte range that a group reads must still hold what was written there for it.
  struct Written {
    int64_t buffer, from, to;
    Value value;
  };
  std::vector<Written> memory;
  auto rangeOf = [](GroupOp group, unsigned i, Value value) {
    int64_t at = group->getAttrOfType<DenseI64ArrayAttr>("burin.offsets")[i];
    return Written{group->getAttrOfType<DenseI64ArrayAttr>("burin.buffers")[i], at, at + bytesOf(value.getType()),
                   value};
  };
  auto overlap = [](const Written &x, const Written &y) {
    return x.buffer == y.buffer && x.from < y.to && y.from < x.to;
  };
  for (Operation &op : entry.getBody().front().without_terminator()) {
    auto group = dyn_cast<GroupOp>(op);
    if (!group || !group->hasAttr("burin.offsets"))
      return op.emitError("internal error: stands outside the plan (please report)");
    unsigned inputs = group.getInputs().size();
    for (auto [i, value] : llvm::enumerate(group.getInputs())) {
      Written range = rangeOf(group, i, value);
      if (isa<BlockArgument>(value)) {
        if (llvm::any_of(memory, [&](const Written &other) { return overlap(range, other); }))
          return op.emitError("internal error: reads an argument that has been overwritten (please report)");
        continue;
      }
      bool whole = llvm::any_of(memory, [&](const Written &other) {
        return other.value == value && other.from == range.from && other.to == range.to && other.buffer == range.buffer;
      });
      if (!whole)
        return op.emitError("internal error: input ") << i << " was overwritten before it was read (please report)";
    }
    SmallVector<Written> fresh;
    for (auto [i, value] : llvm::enumerate(group.getOutputs()))
      fresh.push_back(rangeOf(group, inputs + i, value));
    for (auto [output, range] : llvm::enumerate(fresh)) {
      if (llvm::count_if(fresh, [&](const Written &other) { return overlap(range, other); }) != 1)
        return op.emitError("internal error: two results share memory (please report)");
      // A result lies on top of what the same launch reads only where each element takes its own place.
      for (auto [i, value] : llvm::enumerate(group.getInputs())) {
        const Written read = rangeOf(group, i, value);
        if (!isa<BlockArgument>(value) && overlap(range, read) &&
            !(range.from == read.from && mayOverwrite(group, i, output)))
          return op.emitError("internal error: a result lies on top of an input (please report)");
      }
      llvm::erase_if(memory, [&](const Written &other) { return overlap(range, other); });
      memory.push_back(range);
    }
  }
  return success();
}

} // namespace burin
