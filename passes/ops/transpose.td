include "passes/ir/base.td"

def Burin_TransposeOp : Burin_OpByRule<"transpose", [Burin_IsView]> {
  let summary = "reorder dimensions";
  let description = [{
    Dimension `i` of `y` is dimension `permutation[i]` of `x`. A view: nothing moves. A transpose of a transpose
    becomes one; the identity is dropped.

    ```mlir
    %y = burin.transpose %x by [0, 2, 1, 3] : tensor<2x8x4x16xf32>
    ```
  }];
  let arguments = (ins Burin_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Burin_Tensor:$y);
  let assemblyFormat = "$x `by` $permutation attr-dict `:` type($x)";
  let hasFolder = 1;
}
