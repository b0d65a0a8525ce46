include "passes/ir/base.td"

def Burin_GreaterEqualOp : Burin_OpByRuleWithoutDerivative<"greater_equal", [Burin_IsElementwise]> {
  let summary = "compare, element by element";
  let description = [{
    `y = 1` where `lhs >= rhs`, else 0, as i32; with NumPy broadcasting, of f32 or i32. NaN compares as 0.

    ```mlir
    %y = burin.greater_equal %a, %b : tensor<8x1xi32>, tensor<16xi32>
    ```
  }];
  let arguments = (ins Burin_Tensor:$lhs, Burin_Tensor:$rhs);
  let results = (outs Burin_I32Tensor:$y);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
}
