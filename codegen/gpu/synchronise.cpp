// Barriers. Until the tile words are lowered each of them says what memory it reads and writes, and threads walk
// through them in the same order; so one walk over a kernel finds every place where a thread could meet what another
// has not finished. What a word does within itself is its lowering's affair.
#include "codegen/gpu/gpu.h"
#include "codegen/gpu/tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace burin {

#define GEN_PASS_DEF_GPUSYNCHRONISE
#include "codegen/gpu/passes.h.inc"

using namespace mlir;
using namespace gpu;

namespace {

// Bytes that some thread may not have finished reading or writing.
struct Use {
  enum Kind { tensor, scratch, staging } kind;
  int64_t number;     // of the tensor's memory; 1 for scratch in shared memory, 0 for scratch in device memory
  int64_t begin, end; // of scratch
  bool writes;

  bool operator==(const Use &) const = default;
  bool conflicts(const Use &other) const {
    if (!(writes || other.writes) || kind != other.kind)
      return false;
    return kind == staging || (number == other.number && (kind == tensor || (begin < other.end && other.begin < end)));
  }
};

using Uses = SmallVector<Use>;

void merge(Uses &into, const Uses &more) {
  for (const Use &use : more)
    if (!llvm::is_contained(into, use))
      into.push_back(use);
}

class Walk {
public:
  // Whether every use was understood.
  bool ok = true;

  // Goes through a block with what is unfinished at its start; returns what is unfinished at its end. Barriers are
  // written where `insert` is set; without it, it is only found out where they would be.
  Uses run(Block &block, Uses pending, bool insert) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        // A turn starts with what the turn before it left, or the loop's start.
        Uses before = pending;
        for (size_t known = ~size_t(0); known != before.size();) {
          known = before.size();
          Uses after = run(*loop.getBody(), before, /*insert=*/false);
          // Cells do not touch each other's tensors.
          if (isOverCells(loop))
            llvm::erase_if(after, [](const Use &use) { return use.kind == Use::tensor; });
          merge(before, after);
        }
        merge(pending, run(*loop.getBody(), before, insert));
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        Uses then = run(*branch.thenBlock(), pending, insert);
        Uses otherwise = branch.elseBlock() ? run(*branch.elseBlock(), pending, insert) : pending;
        pending = then;
        merge(pending, otherwise);
      } else {
        Uses uses = usesOf(&op);
        bool clash = llvm::any_of(uses, [&](const Use &use) {
          return llvm::any_of(pending, [&](const Use &p) { return p.conflicts(use); });
        });
        if (clash) {
          pending.clear();
          if (insert) {
            OpBuilder b(&op);
            NVVM::Barrier0Op::create(b, op.getLoc());
          }
        }
        merge(pending, uses);
      }
    }
    return pending;
  }

private:
  static bool isOverCells(scf::ForOp loop) { return isa<func::FuncOp>(loop->getParentOp()); }

  void add(Uses &uses, Value memref, bool writes) {
    Operation *memory = memoryOf(memref);
    if (!memory) {
      ok = false;
      return;
    }
    if (auto range = memory->getAttrOfType<DenseI64ArrayAttr>("burin.scratch")) {
      auto pointer = cast<LLVM::LLVMPointerType>(memory->getOperand(0).getType());
      uses.push_back({Use::scratch, pointer.getAddressSpace() == sharedSpace, range[0], range[1], writes});
    } else {
      uses.push_back({Use::tensor, memory->getAttrOfType<IntegerAttr>("burin.memory").getInt(), 0, 0, writes});
    }
  }

  Uses usesOf(Operation *op) {
    Uses uses;
    if (auto nest = dyn_cast<linalg::GenericOp>(op)) {
      for (OpOperand *input : nest.getDpsInputOperands())
        if (isa<MemRefType>(input->get().getType()) && !nest.getMatchingBlockArgument(input).use_empty())
          add(uses, input->get(), false);
      for (OpOperand &output : nest.getDpsInitsMutable())
        add(uses, output.get(), true);
    } else if (auto contract = dyn_cast<ContractOp>(op)) {
      add(uses, contract.getA(), false);
      add(uses, contract.getB(), false);
      add(uses, contract.getC(), true);
    } else if (auto pack = dyn_cast<PackOp>(op)) {
      add(uses, pack.getSource(), false);
      add(uses, pack.getPanels(), true);
    } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
      add(uses, load.getMemref(), false);
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      add(uses, store.getMemref(), true);
    }
    if (stagingBytes(op) > 0)
      uses.push_back({Use::staging, 0, 0, 0, true});
    return uses;
  }
};

struct Synchronise : impl::GpuSynchroniseBase<Synchronise> {
  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    if (!isKernel(kernel))
      return;
    Walk walk;
    walk.run(kernel.getBody().front(), {}, /*insert=*/true);
    if (!walk.ok) {
      kernel.emitError("internal error: a tile of this kernel lies in no memory (please report)");
      signalPassFailure();
    }
  }
};

} // namespace
} // namespace burin
