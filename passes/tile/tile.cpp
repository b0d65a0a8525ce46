// burin-tile: turns each distinct group into a kernel of loops over tiles and each entry into its list of launches.
// Kernels of one kind are written in a file of their own (rows.cpp, contraction.cpp, columns.cpp, pack.cpp); ops that
// tile themselves are asked to.
#include "passes/tile/kernel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/ir/constant.h"
#include "passes/passes.h"
#include "passes/plan/buffers.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace burin {

#define GEN_PASS_DEF_TILE
#include "passes/passes.h.inc"

namespace {

// What a group does in the model's words: "matmul + add + rms_norm".
std::string describe(GroupOp group) {
  SmallVector<StringRef> words;
  for (Operation &op : group.getBody().front().without_terminator()) {
    if (isa<View>(op) || isConstant(&op))
      continue;
    auto of = op.getAttrOfType<StringAttr>("burin.of");
    StringRef word = of ? of.getValue() : op.getName().stripDialect();
    if (!llvm::is_contained(words, word))
      words.push_back(word);
  }
  return llvm::join(words, " + ");
}

// Everything that decides what a kernel computes, as text: equal texts, equal kernels. Names of values are local to the
// body; where the tensors lie does not count but for that one case.
std::string identityOf(GroupOp group) {
  std::string text = group.getKind().str();
  llvm::raw_string_ostream out(text);
  llvm::interleaveComma(group->getOperandTypes(), out);
  out << " -> ";
  llvm::interleaveComma(group->getResultTypes(), out);
  // An op that adds into an operand leaves the rest alone where the result lies in its place.
  out << liesInPlaceOf(group);
  // Values are numbered from the group on: a block that is printed alone has the whole module numbered first, for each
  // group anew.
  AsmState state(group);
  group.getBody().front().print(out, state);
  return text;
}

// A kernel's code as text, without its name and places.
std::string codeOf(func::FuncOp kernel) {
  std::string text = std::to_string(kernel->getAttrOfType<IntegerAttr>("burin.scratch").getInt());
  llvm::raw_string_ostream out(text);
  AsmState state(kernel);
  kernel.getBody().front().print(out, state);
  return text;
}

// Products only, as everywhere; an op that tiles itself states its own.
double flopsOf(GroupOp group) {
  double flops = 0;
  for (Operation &op : group.getBody().front().without_terminator()) {
    if (auto product = dyn_cast<ProductOp>(op)) {
      auto a = cast<RankedTensorType>(product.getA().getType());
      flops += 2.0 * cast<RankedTensorType>(product.getC().getType()).getNumElements() *
               a.getDimSize(a.getRank() - (product.getTransposed() ? 2 : 1));
    } else if (isa<SelfTiled>(op)) {
      if (auto costed = dyn_cast<Costed>(op))
        flops += costed.cost().products;
    }
  }
  return flops;
}

double trafficOf(GroupOp group) {
  double bytes = 0;
  for (Type type : group->getOperandTypes())
    bytes += bytesOf(type);
  for (Type type : group->getResultTypes())
    bytes += bytesOf(type);
  return bytes;
}

struct Kernel {
  StringAttr symbol;
  int64_t cells;
};

struct TilePass : impl::TileBase<TilePass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect, memref::MemRefDialect,
                    scf::SCFDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    target = module->getAttrOfType<TargetAttr>("burin.target");
    if (!target) {
      module.emitError("the module has no burin.target");
      return signalPassFailure();
    }
    auto dtype = module->getAttrOfType<StringAttr>("burin.dtype");
    inBf16 = dtype && dtype.getValue() == "bf16";
    SmallVector<func::FuncOp> entries;
    for (auto entry : module.getOps<func::FuncOp>())
      if (entry->hasAttr("burin.entry"))
        entries.push_back(entry);
    for (func::FuncOp entry : entries)
      if (failed(launch(entry)))
        return signalPassFailure();
  }

  LogicalResult launch(func::FuncOp entry) {
    OpBuilder b(entry.getContext());
    Block &body = entry.getBody().front();
    auto groups = llvm::to_vector(body.getOps<GroupOp>());
    for (GroupOp group : groups) {
      auto kernel = kernelFor(group);
      if (failed(kernel))
        return failure();
      b.setInsertionPoint(body.getTerminator());
      LaunchOp::create(b, group.getLoc(), FlatSymbolRefAttr::get(kernel->symbol), b.getI64IntegerAttr(kernel->cells),
                       group->getAttrOfType<DenseI64ArrayAttr>("burin.buffers"),
                       group->getAttrOfType<DenseI64ArrayAttr>("burin.offsets"), b.getF64FloatAttr(flopsOf(group)),
                       b.getF64FloatAttr(trafficOf(group)), b.getStringAttr(describe(group)));
      ++launches;
    }
    describeBorder(entry);
    body.getTerminator()->setOperands({});
    for (GroupOp group : llvm::reverse(groups))
      group->erase();
    body.eraseArguments(0, body.getNumArguments());
    entry.setFunctionType(FunctionType::get(entry.getContext(), {}, {}));
    entry.removeArgAttrsAttr();
    entry.removeResAttrsAttr();
    return success();
  }

  // Notes what the entry takes and gives on the entry itself, since launches have no tensors.
  void describeBorder(func::FuncOp entry) {
    Builder b(entry.getContext());
    auto table = [&](TypeRange types, int64_t wanted, auto attributeOf) {
      SmallVector<Attribute> rows;
      for (auto [i, type] : llvm::enumerate(types)) {
        if (bufferOf(cast<StringAttr>(attributeOf(i, "burin.role")).getValue()) != wanted)
          continue;
        auto tensor = cast<RankedTensorType>(type);
        NamedAttrList row;
        row.append("name", attributeOf(i, "burin.name"));
        row.append("dtype", b.getStringAttr(tensor.getElementType().isF32() ? "f32" : "i32"));
        row.append("shape", b.getDenseI64ArrayAttr(tensor.getShape()));
        row.append("buffer", b.getI64IntegerAttr(wanted));
        row.append("offset", attributeOf(i, "burin.offset"));
        if (Attribute bounds = attributeOf(i, "burin.bounds"))
          row.append("bounds", bounds);
        rows.push_back(row.getDictionary(b.getContext()));
      }
      return b.getArrayAttr(rows);
    };
    entry->setAttr("burin.inputs", table(entry.getArgumentTypes(), inputsBuffer,
                                         [&](unsigned i, StringRef name) { return entry.getArgAttr(i, name); }));
    entry->setAttr("burin.outputs", table(entry.getResultTypes(), outputsBuffer,
                                          [&](unsigned i, StringRef name) { return entry.getResultAttr(i, name); }));
  }

  FailureOr<Kernel> kernelFor(GroupOp group) {
    std::string identity = identityOf(group);
    if (auto known = made.find(identity); known != made.end())
      return known->second;
    std::string name = describe(group);
    for (char &c : name)
      if (!llvm::isAlnum(c) && c != '_')
        c = '_';
    while (StringRef(name).contains("___"))
      name.replace(name.find("___"), 3, "_");
    name = name.substr(0, 48) + "_" + std::to_string(made.size());

    OpBuilder b(group.getContext());
    b.setInsertionPointToEnd(getOperation().getBody());
    SmallVector<Type> types;
    auto flat = [](Type type) {
      auto tensor = cast<RankedTensorType>(type);
      return MemRefType::get({tensor.getNumElements()}, tensor.getElementType());
    };
    for (Type type : group->getOperandTypes())
      types.push_back(flat(type));
    for (Type type : group->getResultTypes())
      types.push_back(flat(type));
    types.append({b.getIndexType(), b.getIndexType(), MemRefType::get({ShapedType::kDynamic}, b.getI8Type())});
    auto kernel = func::FuncOp::create(b, group.getLoc(), name, b.getFunctionType(types, {}));
    kernel->setAttr("burin.kernel", b.getUnitAttr());
    Block *body = kernel.addEntryBlock();
    b.setInsertionPointToStart(body);
    func::ReturnOp::create(b, group.getLoc());
    b.setInsertionPointToStart(body);
    unsigned tensors = group->getNumOperands() + group->getNumResults();
    TileBuilder t(b, group.getLoc(), target, body->getArgument(tensors + 2), inBf16);
    GroupBody parts(group, body->getArguments().take_front(tensors));
    auto work = workOf(parts, t);
    if (failed(work))
      return failure();
    // Cells come one after the other; where a thread's share starts and ends changes nothing in what they compute.
    t.forEach(body->getArgument(tensors), body->getArgument(tensors + 1), work->cell);
    kernel->setAttr("burin.scratch", b.getI64IntegerAttr(t.scratchBytes()));
    // Groups that differ in the shapes of their tensors alone can come out as the same code.
    auto [same, isNew] = symbols.try_emplace(codeOf(kernel), kernel.getNameAttr());
    if (isNew)
      ++kernels;
    else
      kernel.erase();
    return made[identity] = {same->second, work->cells};
  }

  TargetAttr target;
  bool inBf16 = false;
  llvm::StringMap<Kernel> made;        // by the group's identity
  llvm::StringMap<StringAttr> symbols; // by the kernel's code
};

} // namespace
} // namespace burin
