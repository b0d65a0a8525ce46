include "passes/ir/base.td"

def Burin_CrossEntropyOp : Burin_OpByRule<"cross_entropy", [Burin_IsExpandable, Burin_HasBounds]> {
  let summary = "sum of the losses of all rows";
  let description = [{
    `y` = the sum, over the rows whose target is not -1, of `ln(sum over c of e^logits[..., c]) - logits[...,
    target]`. Targets are checked where they enter the program. The adjoint keeps `logits` and `targets`.

    ```mlir
    %y = burin.cross_entropy %x, %t : tensor<2x8x16xf32>, tensor<2x8xi32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$logits, Burin_I32Tensor:$targets);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$logits `,` $targets attr-dict `:` type($logits) `,` type($targets)";
}
