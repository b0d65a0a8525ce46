include "passes/ir/base.td"

def Burin_DivOp : Burin_OpByRule<"div", [Burin_IsElementwise]> {
  let summary = "quotient, element by element";
  let description = [{
    `y = lhs / rhs` with NumPy broadcasting. The adjoint keeps `rhs` and `y`.

    ```mlir
    %y = burin.div %a, %b : tensor<8x16xf32>, tensor<16xf32>
    ```
  }];
  let arguments = (ins Burin_Tensor:$lhs, Burin_Tensor:$rhs);
  let results = (outs Burin_Tensor:$y);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}
