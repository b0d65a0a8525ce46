include "passes/ir/base.td"

def Burin_MaskOp : Burin_OpByRule<"mask", [Burin_IsElementwise]> {
  let summary = "hide scores from a softmax";
  let description = [{
    `y = scores` where `keep != 0`, else minus infinity; `keep` broadcasts to the scores. The gradient of a hidden
    score is 0.

    ```mlir
    %y = burin.mask %s, %k : tensor<2x8x8xf32>, tensor<8x8xi32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$scores, Burin_I32Tensor:$keep);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$scores `,` $keep attr-dict `:` type($scores) `,` type($keep)";
}
