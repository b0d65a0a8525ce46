// A group's borders, iteration spaces, and the kinds that need no file of their own.
#include "passes/tile/kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/ir/constant.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace burin {

int liesInPlaceOf(GroupOp group) {
  auto buffers = group->getAttrOfType<DenseI64ArrayAttr>("burin.buffers"),
       offsets = group->getAttrOfType<DenseI64ArrayAttr>("burin.offsets");
  const unsigned result = group.getInputs().size();
  for (Operation &op : group.getBody().front())
    if (auto adds = dyn_cast<AddsInto>(op))
      if (auto start = dyn_cast<BlockArgument>(op.getOperand(adds.startOperand())))
        if (const unsigned input = start.getArgNumber();
            buffers[input] == buffers[result] && offsets[input] == offsets[result])
          return input;
  return -1;
}

GroupBody::GroupBody(GroupOp group, ValueRange memory) : kind(group.getKind()), loc(group.getLoc()) {
  Block &body = group.getBody().front();
  auto shape = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
  for (BlockArgument argument : body.getArguments())
    read[argument] = {memory[argument.getArgNumber()], rowMajor(shape(argument))};
  // Kernels see that two tensors are one by their base.
  if (const int input = liesInPlaceOf(group); input >= 0)
    read[body.getArgument(input)].base = memory[body.getNumArguments()];
  for (Operation &op : body.without_terminator()) {
    auto view = dyn_cast<View>(op);
    if (!view) {
      if (!isConstant(&op))
        ops.push_back(&op);
      continue;
    }
    auto from = read.find(op.getOperand(0));
    if (from == read.end())
      continue;
    Stored result = from->second;
    // group/ has asked the same question before it put the view here.
    result.where = *view.viewOf(result.where);
    read[op.getResult(0)] = result;
  }
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    Stored result{memory[body.getNumArguments() + i], rowMajor(shape(value))};
    while (auto view = dyn_cast_or_null<View>(value.getDefiningOp())) {
      result.where = *view.viewedFrom(result.where);
      value = view->getOperand(0);
    }
    written[value] = result;
  }
}

GroupBody GroupBody::only(llvm::function_ref<bool(Operation *)> isIncluded) const {
  GroupBody part = *this;
  llvm::erase_if(part.ops, [&](Operation *op) { return !isIncluded(op); });
  part.written.clear();
  for (auto &[value, stored] : written)
    if (llvm::is_contained(part.ops, value.getDefiningOp()))
      part.written[value] = stored;
  return part;
}

FailureOr<Work> workOf(const GroupBody &body, TileBuilder &t) {
  if (body.kind == "rows")
    return rowsWork(body, t);
  if (body.kind == "contraction")
    return contractionWork(body, t);
  if (body.kind == "columns")
    return columnsWork(body, t);
  if (body.kind == "pack")
    return packWork(body, t);
  if (body.kind == "self")
    return selfWork(body, t);
  emitError(body.loc) << "internal error: no tile form for groups of kind '" << body.kind << "' (please report)";
  return failure();
}

SmallVector<int64_t> stridesOver(const Strided &where, ArrayRef<int64_t> space) {
  SmallVector<int64_t> strides(space.size(), 0);
  assert(where.sizes.size() <= space.size());
  size_t shift = space.size() - where.sizes.size();
  for (size_t dim = 0; dim < where.sizes.size(); ++dim)
    if (where.sizes[dim] != 1)
      strides[shift + dim] = where.strides[dim];
  return strides;
}

int64_t collapse(SmallVectorImpl<int64_t> &sizes, MutableArrayRef<SmallVector<int64_t> *> strides, int64_t end,
                 bool keepLast) {
  auto erase = [&](int64_t dim) {
    sizes.erase(sizes.begin() + dim);
    for (auto *list : strides)
      list->erase(list->begin() + dim);
    --end;
  };
  for (int64_t dim = end - 1; dim >= 0; --dim)
    if (sizes[dim] == 1 && end > 1 && !(keepLast && dim == end - 1))
      erase(dim);
  for (int64_t dim = end - 2; dim >= 0; --dim) {
    bool one = llvm::all_of(strides, [&](auto *list) { return (*list)[dim] == (*list)[dim + 1] * sizes[dim + 1]; });
    if (!one)
      continue;
    sizes[dim + 1] *= sizes[dim];
    erase(dim);
  }
  return end;
}

Fields::Fields(const GroupBody &body, ArrayRef<int64_t> space) {
  llvm::SmallSetVector<Value, 8> operands;
  for (Operation *op : body.ops)
    if (!isa<ProductOp, PackPanelsOp>(op))
      for (Value operand : op->getOperands())
        if (body.read.count(operand))
          operands.insert(operand);
  for (Value operand : operands) {
    const Stored &stored = body.read.find(operand)->second;
    read.push_back({operand, stored, stridesOver(stored.where, space)});
  }
  for (auto &[value, stored] : body.written)
    written.push_back({value, stored, stridesOver(stored.where, space)});
}

SmallVector<SmallVector<int64_t> *> Fields::strides() {
  SmallVector<SmallVector<int64_t> *> lists;
  for (auto *fields : {&read, &written})
    for (Field &field : *fields)
      lists.push_back(&field.strides);
  return lists;
}

void Fields::tiles(TileBuilder &t, ArrayRef<Value> start, int64_t rows, int64_t columns, TileOf &inputs,
                   TileOf &outputs) const {
  for (const Field &field : read)
    inputs[field.value] = inputTile(t, field.stored, field.strides, start, rows, columns);
  for (const Field &field : written)
    outputs[field.value] = outputTile(t, field.value, field.stored, field.strides, start, rows, columns);
}

SmallVector<Value> delinearise(TileBuilder &t, Value number, ArrayRef<int64_t> sizes) {
  SmallVector<Value> indices(sizes.size());
  for (size_t dim = sizes.size(); dim-- > 0;) {
    if (sizes[dim] == 1) {
      indices[dim] = t.index(0);
      continue;
    }
    bool outermost = llvm::all_of(sizes.take_front(dim), [](int64_t size) { return size == 1; });
    indices[dim] = outermost ? number : arith::RemUIOp::create(t.b, t.loc, number, t.index(sizes[dim])).getResult();
    if (!outermost)
      number = arith::DivUIOp::create(t.b, t.loc, number, t.index(sizes[dim]));
  }
  return indices;
}

namespace {

// What an op that tiles itself makes for its group alone: in scratch where that takes no more than an eighth of the
// second cache; else in memory, where a result of the same type comes later.
struct Interim {
  Value value;
  Stored stored;
  bool inScratch;
};

std::vector<Interim> interimOf(const GroupBody &body, const GroupBody &after, TileBuilder &t) {
  auto later = llvm::to_vector(after.written);
  std::vector<Interim> all;
  SmallVector<Value> values;
  for (Value value : body.ops.front()->getResults())
    if (!body.written.count(value)) {
      values.push_back(value);
      all.push_back({value, {}, false});
    }
  if (!t.target.keepsInScratch(values)) {
    for (Interim &interim : all) {
      auto *place = llvm::find_if(later, [&](auto &entry) { return entry.first.getType() == interim.value.getType(); });
      interim.stored = place->second; // group/ has seen to it that there is one
      later.erase(place);
    }
    return all;
  }
  for (auto &[value, stored, inScratch] : all) {
    ArrayRef<int64_t> sizes = cast<RankedTensorType>(value.getType()).getShape();
    const int64_t rows = sizes[sizes.size() - 2], columns = sizes.back();
    SmallVector<int64_t> strides(sizes.size() - 2, 0);
    strides.append({columns, 1});
    stored = {t.scratch({rows * columns}, t.b.getF32Type()), {SmallVector<int64_t>(sizes), strides, 0}};
    inScratch = true;
  }
  return all;
}

} // namespace

// What follows an op that tiles itself is done in the same cell, some rows of its matrix at a time.
Work selfWork(const GroupBody &body, TileBuilder &t) {
  Operation *op = body.ops.front();
  auto tiled = cast<SelfTiled>(op);
  SmallVector<Stored> operands;
  for (Value operand : op->getOperands())
    operands.push_back(body.read.lookup(operand));
  const GroupBody after = body.only([&](Operation *other) { return other != op; });
  llvm::SmallSetVector<Value, 4> used; // of the results
  for (Operation *reader : after.ops)
    for (Value operand : reader->getOperands())
      if (operand.getDefiningOp() == op)
        used.insert(operand);
  SmallVector<int64_t> space;
  if (!used.empty())
    llvm::append_range(space, cast<RankedTensorType>(used.front().getType()).getShape());
  const Fields fields(after, space);

  return {tiled.cells(t.target), [=, &t](Value cell) mutable {
            const std::vector<Interim> interim = interimOf(body, after, t);
            auto find = [&](Value value) {
              return llvm::find_if(interim, [&](const Interim &each) { return each.value == value; });
            };
            SmallVector<Stored> results;
            for (Value value : op->getResults()) {
              auto made = find(value);
              results.push_back(made != interim.end() ? made->stored : body.written.lookup(value));
            }
            t.withScratch([&] { tiled.tile(t, cell, operands, results); });
            if (after.ops.empty())
              return;
            const int64_t rows = space[space.size() - 2], columns = space.back();
            const int64_t count = used.size() + fields.read.size() + fields.written.size();
            const int64_t rowStep = std::clamp<int64_t>(t.target.getL1() / 2 / (4 * columns * count), 1, rows);
            SmallVector<Value> start = delinearise(t, cell, ArrayRef<int64_t>(space).drop_back(2));
            start.append({Value(), t.index(0)});
            SmallVector<int64_t> sizes(space.size() - 2, 0);
            t.forTiles(rows, rowStep, [&](Value row, int64_t rowCount) {
              t.withScratch([&] {
                start[space.size() - 2] = row;
                TileOf in, out;
                fields.tiles(t, start, rowCount, columns, in, out);
                for (Value value : used) {
                  SmallVector<int64_t> extents(sizes);
                  extents.append({rowCount, columns});
                  Value tile = t.tile(results[cast<OpResult>(value).getResultNumber()], start, extents);
                  auto made = find(value);
                  if (made != interim.end() && !made->inScratch) { // what follows is written over it
                    Value copy = t.scratch({rowCount, columns}, t.b.getF32Type());
                    t.copy(tile, copy);
                    tile = copy;
                  }
                  in[value] = {tile, {0, 1}};
                }
                writeRows(t, after, rowCount, columns, t.index(0), in, out);
              });
            });
          }};
}

// A cell copies one panel: `width` columns of the matrix, all of its depth.
Work packWork(const GroupBody &body, TileBuilder &t) {
  auto op = cast<PackPanelsOp>(body.ops.front());
  Stored matrix = body.read.lookup(op.getMatrix()), panels = body.written.lookup(op.getPanels());
  if (op.getTransposed()) {
    int64_t rank = matrix.where.sizes.size();
    std::swap(matrix.where.sizes[rank - 1], matrix.where.sizes[rank - 2]);
    std::swap(matrix.where.strides[rank - 1], matrix.where.strides[rank - 2]);
  }
  int64_t batches = matrix.where.sizes.size() - 2;
  int64_t depth = matrix.where.sizes[batches], columns = matrix.where.sizes[batches + 1],
          width = t.target.getPanelWidth();
  int64_t panelRows = panels.where.sizes[batches + 1], panelColumns = panels.where.sizes[batches + 2];
  SmallVector<int64_t> grid(panels.where.sizes.begin(), panels.where.sizes.begin() + batches + 1);
  int64_t cells = 1;
  for (int64_t size : grid)
    cells *= size;
  return {cells, [=, &t](Value cell) {
            SmallVector<Value> at = delinearise(t, cell, grid);
            t.oneTile(at.back(), columns, width, [&](Value column, int64_t count) {
              SmallVector<Value> from(at.begin(), at.end() - 1), to = at;
              from.append({t.index(0), column});
              to.append({t.index(0), t.index(0)});
              SmallVector<int64_t> fromSizes(batches, 0), toSizes(batches, 0);
              fromSizes.append({depth, count});
              toSizes.append({1, panelRows, panelColumns});
              t.pack(t.tile(matrix, from, fromSizes), t.tile(panels, to, toSizes));
            });
          }};
}

} // namespace burin
