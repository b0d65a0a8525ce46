include "passes/ir/base.td"

def Burin_ScaleOp : Burin_OpByRule<"scale", [Burin_IsElementwise]> {
  let summary = "multiply by a number";
  let description = [{
    `y = factor * x`. A factor of 1 is dropped.

    ```mlir
    %y = burin.scale %x by 1.250000e-01 : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x, F64Attr:$factor);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x `by` $factor attr-dict `:` type($x)";
  let hasFolder = 1;
}
