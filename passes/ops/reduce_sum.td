include "passes/ir/base.td"

def Burin_ReduceSumOp : Burin_OpByRule<"reduce_sum", [Burin_IsReduction, Burin_IsExpandable]> {
  let summary = "sum over some dimensions";
  let description = [{
    `y` = the sum of `x` over `dims`, which are dropped, or kept as 1 with `keep_dims`. The adjoint broadcasts.

    ```mlir
    %y = burin.reduce_sum %x over [1] keep_dims : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x, DenseI64ArrayAttr:$dims, UnitAttr:$keep_dims);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x `over` $dims (`keep_dims` $keep_dims^)? attr-dict `:` type($x)";
}
