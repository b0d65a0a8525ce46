// From tile form to LLVM for a CPU, in the order in which buildCpuPipeline runs them. Each description answers: needs, leaves, why here,
// example. All of them look at kernels (`burin.kernel`) alone.
#ifndef BURIN_CODEGEN_CPU_PASSES_TD
#define BURIN_CODEGEN_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

class CpuPass<string name, string operation, list<string> more = []> : Pass<name, operation> {
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"] # more;
}

// What the last pass leaves; in others for intrinsics, instructions that no other dialect has a word for.
defvar llvm = ["::mlir::LLVM::LLVMDialect"];

def CpuLowerNests : CpuPass<"burin-cpu-lower-nests", "::mlir::func::FuncOp"> {
  let summary = "turn linalg.generic on tiles into loops over vectors";
  let description = [{
    Needs: kernels in tile form and `burin.target` on the module.
    Leaves: no `linalg.generic`; scf loops, loads and stores of whole or masked vectors on flat memrefs, accumulators as loop-carried values.
    Why here: first, while a nest still says which of its loops are reductions.
    Example: `tests/codegen/cpu/nests.mlir`.
  }];
}

def CpuLowerContract : CpuPass<"burin-cpu-lower-contract", "::mlir::func::FuncOp", llvm> {
  let summary = "turn burin.contract into register blocks of fused multiply-adds";
  let description = [{
    Needs: `burin.target` on the module.
    Leaves: no `burin.contract`; per register block one loop over the depth whose carried values are the block of c.
    Why here: beside the other tile words; the order among them is free.
    Example: `tests/codegen/cpu/contract.mlir`.
  }];
}

def CpuLowerPack : CpuPass<"burin-cpu-lower-pack", "::mlir::func::FuncOp"> {
  let summary = "turn burin.pack into row copies or transposes in registers";
  let description = [{
    Needs: `burin.target` on the module.
    Leaves: no `burin.pack`.
    Why here: beside the other tile words; the order among them is free.
    Example: `tests/codegen/cpu/pack.mlir`.
  }];
}

def CpuFlattenAccesses : CpuPass<"burin-cpu-flatten-accesses", "::mlir::func::FuncOp"> {
  let summary = "turn loads and stores of single elements of tiles into ones of the flat buffers under them";
  let description = [{
    Needs: tile words lowered.
    Leaves: no memref with strides or more than one dimension, so that a pointer and an index say every address.
    Why here: last of the passes that see tiles.
    Example: `tests/codegen/cpu/accesses.mlir`.
  }];
}

def CpuExpandMath : CpuPass<"burin-cpu-expand-math", "::mlir::func::FuncOp", llvm> {
  let summary = "turn exp, exp2, log, tanh, erf and rsqrt on f32 into polynomials and divisions";
  let description = [{
    Needs: math on scalars and one-dimensional vectors.
    Leaves: math that is one instruction (sqrt, fma, absf), and functions that tables alone use and that stay calls (sin, cos, f64).
    Why here: after vectorisation, so that each function is written once for scalars and vectors; before the conversion to LLVM, which would call libm.
    Example: `tests/codegen/cpu/math.mlir`; errors are stated in `math.h` and measured over all floats by `tests/codegen/cpu/math_test.cpp`.
  }];
}

def CpuToLlvm : CpuPass<"burin-cpu-to-llvm", "::mlir::ModuleOp", llvm> {
  let summary = "turn kernels into LLVM functions with the ABI's signature";
  let description = [{
    Needs: kernels of arith, math, vector, cf and flat memrefs; `burin.scratch` on each.
    Leaves: internal `llvm.func` ops `(buffers, args, first, last, scratch)`, see runtime/abi/burin.h; entries are left as they are.
    Why here: last; what follows is LLVM's.
    Example: `tests/codegen/cpu/to_llvm.mlir`.
  }];
}

#endif
