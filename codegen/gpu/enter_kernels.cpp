// Kernels take what a launch on a device gives: pointers, the number of cells, and a block's scratch. The loop over
// cells becomes one over every gridDim-th of them, and each tile of scratch gets its place: the memory that a block
// shares where it fits, else device memory.
#include <numeric>

#include "codegen/gpu/gpu.h"
#include "codegen/gpu/tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace burin {

#define GEN_PASS_DEF_GPUENTERKERNELS
#include "codegen/gpu/passes.h.inc"

using namespace mlir;
using namespace gpu;

namespace {

// What every device since compute capability 8.0 has for a block (8.6 and 8.9 have 99 KB), and two blocks of a
// multiprocessor with 164 KB have too little room for more than this each.
constexpr int64_t mostShared = 96 << 10;

int64_t bytesOf(MemRefType type) { return type.getNumElements() * llvm::divideCeil(type.getElementTypeBitWidth(), 8); }

struct EnterKernels : impl::GpuEnterKernelsBase<EnterKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpBuilder b(module.getContext());
    b.setInsertionPointToStart(module.getBody());
    bool any = false;
    llvm::StringMap<SmallVector<LaunchOp>> launches;
    module.walk([&](LaunchOp launch) { launches[launch.getKernel()].push_back(launch); });
    for (auto kernel : module.getOps<func::FuncOp>()) {
      if (!isKernel(kernel))
        continue;
      any = true;
      kernel->setAttr("burin.memories", b.getDenseI64ArrayAttr(memoriesOf(kernel, launches[launchedName(kernel)])));
      if (failed(enter(kernel)))
        return signalPassFailure();
    }
    if (!any)
      return;
    auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 0);
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, module.getLoc(), bytes, /*isConstant=*/false, LLVM::Linkage::External, sharedName,
                           Attribute(), /*alignment=*/128, sharedSpace);
  }

  // For each tensor of a kernel the number of a memory; two tensors with the same one share bytes in some launch.
  // Without launches (a kernel by itself) any two may.
  static SmallVector<int64_t> memoriesOf(func::FuncOp kernel, ArrayRef<LaunchOp> launches) {
    const int64_t tensors = int64_t(kernel.getNumArguments()) - 3;
    SmallVector<int64_t> memory(std::max<int64_t>(tensors, 0), 0);
    if (launches.empty())
      return memory;
    std::iota(memory.begin(), memory.end(), 0);
    auto merge = [&](int64_t x, int64_t y) {
      for (int64_t &one : memory)
        if (one == y)
          one = x;
    };
    for (LaunchOp launch : launches)
      for (int64_t i = 0; i < tensors; ++i)
        for (int64_t j = i + 1; j < tensors; ++j) {
          auto bytes = [&](int64_t t) { return bytesOf(cast<MemRefType>(kernel.getArgument(t).getType())); };
          int64_t x = launch.getOffsets()[i], y = launch.getOffsets()[j];
          if (launch.getBuffers()[i] == launch.getBuffers()[j] && x < y + bytes(j) && y < x + bytes(i) &&
              memory[i] != memory[j])
            merge(memory[i], memory[j]);
        }
    return memory;
  }

  LogicalResult enter(func::FuncOp kernel) {
    Block &entry = kernel.getBody().front();
    const unsigned tensors = entry.getNumArguments() - 3;
    Value first = entry.getArgument(tensors), last = entry.getArgument(tensors + 1),
          scratch = entry.getArgument(tensors + 2);
    scf::ForOp cells;
    for (auto loop : entry.getOps<scf::ForOp>())
      if (loop.getLowerBound() == first && loop.getUpperBound() == last)
        cells = loop;
    if (!cells || !first.hasOneUse() || !last.hasOneUse() || getConstantIntValue(cells.getStep()) != 1)
      return kernel.emitError("internal error: a kernel is one loop over its cells (please report)");

    const Location loc = kernel.getLoc();
    OpBuilder b(kernel.getContext());
    b.setInsertionPointToStart(&entry);
    const Type device = LLVM::LLVMPointerType::get(b.getContext(), globalSpace), i64 = b.getI64Type();
    auto number = [&](Value i32) { return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), i32).getResult(); };
    Value block = number(NVVM::BlockIdXOp::create(b, loc, b.getI32Type())),
          blocks = number(NVVM::GridDimXOp::create(b, loc, b.getI32Type()));

    // Tensors.
    for (unsigned i = 0; i < tensors; ++i) {
      BlockArgument argument = entry.getArgument(i);
      auto type = argument.getType();
      argument.setType(device);
      auto tensor = UnrealizedConversionCastOp::create(b, loc, type, argument);
      argument.replaceAllUsesExcept(tensor.getResult(0), tensor);
      tensor->setAttr("burin.memory",
                      b.getI64IntegerAttr(kernel->getAttrOfType<DenseI64ArrayAttr>("burin.memories").asArrayRef()[i]));
    }
    kernel->removeAttr("burin.memories");

    // Cells.
    cells.getLowerBoundMutable().assign(block);
    cells.getStepMutable().assign(blocks);
    entry.getArgument(tensors).setType(i64);
    Value count = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), entry.getArgument(tensors));
    cells.getUpperBoundMutable().assign(count);

    // Scratch.
    int64_t staging = 0;
    kernel.walk([&](Operation *op) { staging = std::max(staging, stagingBytes(op)); });
    staging = llvm::alignTo(staging, 128);
    SmallVector<memref::ViewOp> views;
    for (Operation *user : scratch.getUsers()) {
      auto view = dyn_cast<memref::ViewOp>(user);
      if (!view || !getConstantIntValue(view.getByteShift()) || !view.getType().hasStaticShape())
        return user->emitError("internal error: scratch is used by tiles at constant offsets alone (please report)");
      views.push_back(view);
    }
    auto startOf = [](memref::ViewOp view) { return *getConstantIntValue(view.getByteShift()); };
    auto endOf = [&](memref::ViewOp view) { return startOf(view) + bytesOf(view.getType()); };
    // What ends below the limit is shared; tiles that take turns at a place are judged one by one.
    int64_t shared = 0, inDevice = 0;
    for (memref::ViewOp view : views)
      if (staging + endOf(view) <= mostShared)
        shared = std::max(shared, endOf(view));
      else
        inDevice = std::max(inDevice, endOf(view));
    inDevice = llvm::alignTo(inDevice, 256);
    entry.getArgument(tensors + 2).setType(device);
    entry.eraseArgument(tensors + 1);
    BlockArgument scratchStart = entry.getArgument(tensors + 1);
    Emitter wide{b, loc, i64};
    Value own =
        wide.at(scratchStart, b.getI8Type(), wide.mul(arith::IndexCastOp::create(b, loc, i64, block), inDevice));
    for (memref::ViewOp view : views) {
      b.setInsertionPoint(view);
      Emitter e{b, view.getLoc(), i64};
      const bool isShared = staging + endOf(view) <= mostShared;
      Value pointer = isShared ? e.at(e.staging(), b.getI8Type(), staging + startOf(view))
                               : e.at(own, b.getI8Type(), startOf(view));
      auto tile = UnrealizedConversionCastOp::create(b, view.getLoc(), view.getType(), pointer);
      tile->setAttr("burin.scratch", b.getDenseI64ArrayAttr({startOf(view), endOf(view)}));
      view.replaceAllUsesWith(tile.getResult(0));
      view.erase();
    }

    kernel.setFunctionType(b.getFunctionType(entry.getArgumentTypes(), {}));
    kernel->setAttr("burin.threads", b.getI64IntegerAttr(threads));
    kernel->setAttr("burin.shared", b.getI64IntegerAttr(staging + shared));
    kernel->setAttr("burin.scratch", b.getI64IntegerAttr(inDevice));
    return success();
  }
};

} // namespace
} // namespace burin
