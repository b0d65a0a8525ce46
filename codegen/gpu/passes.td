// From tile form to LLVM for a GPU, in the order in which buildGpuPipeline runs them. Each description answers: needs,
// leaves, why here, example. All of them look at kernels (`burin.kernel`) alone.
#ifndef BURIN_CODEGEN_GPU_PASSES_TD
#define BURIN_CODEGEN_GPU_PASSES_TD

include "mlir/Pass/PassBase.td"

class GpuPass<string name, string operation> : Pass<name, operation> {
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def GpuSpecialise : GpuPass<"burin-gpu-specialise", "::mlir::ModuleOp"> {
  let summary = "settle what sm_90a does in its own way";
  let description = [{
    Needs: kernels in tile form; `burin.target`, whose `features` name an architecture with a text of its own beside the first.
    Leaves: for sm_90a `burin.by_warpgroup` (rows of b that are copied at a time) on products in bf16 whose b lies in a tensor, `burin.in_rows` on
    packs into such panels: in the kernels themselves where the target is sm_90a, else in copies of them with `burin.variant_of`.
    Why here: first; how words are lowered and what staging they need depends on it.
    Example: `tests/codegen/gpu/warpgroup.mlir`.
  }];
}

def GpuEnterKernels : GpuPass<"burin-gpu-enter-kernels", "::mlir::ModuleOp"> {
  let summary = "give kernels the signature of a launch, and scratch its place";
  let description = [{
    Needs: kernels in tile form, one loop over cells each; launches, where there are any, to know which tensors share memory.
    Leaves: `(pointers..., cells: i64, scratch: pointer)`; the loop over cells starts at the block's number and steps by the number of blocks; casts
    from pointers to memrefs under the views; `burin.threads`, `burin.shared` and `burin.scratch` (bytes of a block) on the kernel.
    Why here: before all lowerings, because how words are lowered depends on the memory under their tiles.
    Example: `tests/codegen/gpu/enter_kernels.mlir`.
  }];
}

def GpuSynchronise : GpuPass<"burin-gpu-synchronise", "::mlir::func::FuncOp"> {
  let summary = "put barriers where a thread could meet what another has not finished";
  let description = [{
    Needs: entered kernels whose tile words are not lowered.
    Leaves: `nvvm.barrier0` between words that touch the same bytes, one of them writing, across turns of loops and branches as well.
    Why here: only as long as words stand as ops is it known what they touch.
    Example: `tests/codegen/gpu/synchronise.mlir`.
  }];
}

def GpuLowerNests : GpuPass<"burin-gpu-lower-nests", "::mlir::func::FuncOp"> {
  let summary = "share linalg.generic on tiles out among the threads of a block";
  let description = [{
    Needs: entered kernels.
    Leaves: no `linalg.generic`; scf loops over a thread's elements, loads and stores of LLVM's dialect, shuffles and staging for sums.
    Why here: beside the other tile words; the order among them is free.
    Example: `tests/codegen/gpu/nests.mlir`.
  }];
}

def GpuLowerContract : GpuPass<"burin-gpu-lower-contract", "::mlir::func::FuncOp"> {
  let summary = "turn burin.contract into multiply-adds on register blocks, or matrix instructions";
  let description = [{
    Needs: entered kernels.
    Leaves: no `burin.contract`; loops over the depth whose carried values are a thread's part of c.
    Why here: beside the other tile words; the order among them is free.
    Example: `tests/codegen/gpu/contract.mlir`.
  }];
}

def GpuLowerPack : GpuPass<"burin-gpu-lower-pack", "::mlir::func::FuncOp"> {
  let summary = "share burin.pack out among the threads of a block";
  let description = [{
    Needs: entered kernels.
    Leaves: no `burin.pack`.
    Why here: beside the other tile words; the order among them is free.
    Example: `tests/codegen/gpu/pack.mlir`.
  }];
}

def GpuLowerAccesses : GpuPass<"burin-gpu-lower-accesses", "::mlir::func::FuncOp"> {
  let summary = "turn loads and stores of single elements of tiles into ones of pointers";
  let description = [{
    Needs: tile words lowered.
    Leaves: no memref.
    Why here: last of the passes that see tiles.
    Example: `tests/codegen/gpu/accesses.mlir`.
  }];
}

def GpuExpandMath : GpuPass<"burin-gpu-expand-math", "::mlir::func::FuncOp"> {
  let summary = "turn functions into polynomials and divisions";
  let description = [{
    Needs: math on scalars, f32 or, for tables, f64.
    Leaves: math that is one instruction (sqrt, fma, absf, copysign).
    Why here: after loop-invariant functions have left their loops; before the conversion to LLVM, which would call a library that does not exist.
    Example: `tests/codegen/gpu/math.mlir`; errors are those of `codegen/math/formulas.h`.
  }];
}

def GpuToLlvm : GpuPass<"burin-gpu-to-llvm", "::mlir::ModuleOp"> {
  let summary = "turn kernels into LLVM functions";
  let description = [{
    Needs: kernels of arith, math, cf, llvm and nvvm.
    Leaves: `llvm.func` ops; entries are left as they are.
    Why here: last; what follows is LLVM's.
    Example: `tests/codegen/gpu/to_llvm.mlir`.
  }];
}

#endif
