include "passes/ir/base.td"

def Burin_SqrtOp : Burin_OpByRule<"sqrt", [Burin_IsElementwise]> {
  let summary = "square root";
  let description = [{
    `y = sqrt(x)`. The adjoint keeps `y`.

    ```mlir
    %y = burin.sqrt %x : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
