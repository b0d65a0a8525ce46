include "passes/ir/base.td"

def Burin_TanhOp : Burin_OpByRule<"tanh", [Burin_IsExpensiveElementwise]> {
  let summary = "hyperbolic tangent";
  let description = [{
    `y = tanh x`. The adjoint keeps `y`.

    ```mlir
    %y = burin.tanh %x : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
