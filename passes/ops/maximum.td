include "passes/ir/base.td"

def Burin_MaximumOp : Burin_OpByRule<"maximum", [Burin_IsElementwise]> {
  let summary = "the greater of two, element by element";
  let description = [{
    `y = max(lhs, rhs)` with NumPy broadcasting, of f32 or i32; NaN if either is. Where both are equal the gradient
    goes to `lhs`.

    ```mlir
    %y = burin.maximum %a, %b : tensor<8x16xf32>, tensor<16xf32>
    ```
  }];
  let arguments = (ins Burin_Tensor:$lhs, Burin_Tensor:$rhs);
  let results = (outs Burin_Tensor:$y);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}
