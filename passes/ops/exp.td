include "passes/ir/base.td"

def Burin_ExpOp : Burin_OpByRule<"exp", [Burin_IsExpensiveElementwise]> {
  let summary = "exponential";
  let description = [{
    `y = e^x`. The adjoint keeps `y`.

    ```mlir
    %y = burin.exp %x : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
