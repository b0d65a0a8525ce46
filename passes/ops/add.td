include "passes/ir/base.td"

def Burin_AddOp : Burin_OpByRule<"add", [Burin_IsElementwise]> {
  let summary = "sum, element by element";
  let description = [{
    `y = lhs + rhs` with NumPy broadcasting, of f32 or i32. A zero constant is dropped. Concats that are zero where the other is
    not become one: so the gradients of all slices of a tensor meet in one copy.

    ```mlir
    %y = burin.add %a, %b : tensor<8x16xf32>, tensor<16xf32>
    ```
  }];
  let arguments = (ins Burin_Tensor:$lhs, Burin_Tensor:$rhs);
  let results = (outs Burin_Tensor:$y);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
