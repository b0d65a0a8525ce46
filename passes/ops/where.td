include "passes/ir/base.td"

def Burin_WhereOp : Burin_OpByRule<"where", [Burin_IsElementwise]> {
  let summary = "choose, element by element";
  let description = [{
    `y = lhs` where `condition != 0`, else `rhs`; all three broadcast. Of f32 or i32.

    ```mlir
    %y = burin.where %c, %a, %b : tensor<8x1xi32>, tensor<8x16xf32>, tensor<f32>
    ```
  }];
  let arguments = (ins Burin_I32Tensor:$condition, Burin_Tensor:$lhs, Burin_Tensor:$rhs);
  let results = (outs Burin_Tensor:$y);
  let assemblyFormat = "$condition `,` $lhs `,` $rhs attr-dict `:` type($condition) `,` type($lhs) `,` type($rhs)";
}
