include "passes/ir/base.td"

def Burin_ReduceMaxOp : Burin_OpByRule<"reduce_max", [Burin_IsReduction, Burin_IsExpandable]> {
  let summary = "maximum over some dimensions";
  let description = [{
    `y` = the maximum of `x` over `dims`, which are dropped, or kept as 1 with `keep_dims`. NaN if any element is.
    The adjoint keeps `x` and `y` and shares the gradient among equal maxima.

    ```mlir
    %y = burin.reduce_max %x over [1] keep_dims : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x, DenseI64ArrayAttr:$dims, UnitAttr:$keep_dims);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x `over` $dims (`keep_dims` $keep_dims^)? attr-dict `:` type($x)";
}
