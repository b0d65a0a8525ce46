include "passes/ir/base.td"

def Burin_LogOp : Burin_OpByRule<"log", [Burin_IsExpensiveElementwise]> {
  let summary = "natural logarithm";
  let description = [{
    `y = ln x`. The adjoint keeps `x`.

    ```mlir
    %y = burin.log %x : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
