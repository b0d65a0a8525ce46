include "passes/ir/base.td"

def Burin_SiluOp : Burin_OpByRule<"silu", [Burin_IsExpensiveElementwise]> {
  let summary = "x times its logistic function";
  let description = [{
    `y = x / (1 + e^-x)`. The adjoint keeps `x` and computes the logistic function again.

    ```mlir
    %y = burin.silu %x : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
