include "passes/ir/base.td"

def Burin_ReluOp : Burin_OpByRule<"relu", [Burin_IsElementwise]> {
  let summary = "zero where negative";
  let description = [{
    `y = max(x, 0)`; NaN stays NaN. The adjoint keeps `x`; at 0 the gradient is 0.

    ```mlir
    %y = burin.relu %x : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
