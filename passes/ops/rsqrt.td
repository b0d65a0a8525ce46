include "passes/ir/base.td"

def Burin_RsqrtOp : Burin_OpByRule<"rsqrt", [Burin_IsElementwise]> {
  let summary = "reciprocal square root";
  let description = [{
    `y = 1 / sqrt(x)`: what norms scale their rows by. The adjoint keeps `y`.

    ```mlir
    %y = burin.rsqrt %x : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
