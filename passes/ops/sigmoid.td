include "passes/ir/base.td"

def Burin_SigmoidOp : Burin_OpByRule<"sigmoid", [Burin_IsExpensiveElementwise]> {
  let summary = "logistic function";
  let description = [{
    `y = 1 / (1 + e^-x)`. The adjoint keeps `y`.

    ```mlir
    %y = burin.sigmoid %x : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
