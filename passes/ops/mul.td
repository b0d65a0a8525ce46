include "passes/ir/base.td"

def Burin_MulOp : Burin_OpByRule<"mul", [Burin_IsElementwise]> {
  let summary = "product, element by element";
  let description = [{
    `y = lhs * rhs` with NumPy broadcasting, of f32 or i32; of i32 masks it is their intersection. The adjoint keeps
    both operands.

    ```mlir
    %y = burin.mul %a, %b : tensor<8x16xf32>, tensor<16xf32>
    ```
  }];
  let arguments = (ins Burin_Tensor:$lhs, Burin_Tensor:$rhs);
  let results = (outs Burin_Tensor:$y);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}
