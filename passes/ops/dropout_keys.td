include "passes/ir/base.td"

def Burin_DropoutKeysOp : Burin_OpByRuleWithoutDerivative<"dropout_keys", [Burin_IsElementwise]> {
  let summary = "a key of dropout for each row of a matrix";
  let description = [{
    `y[..., c] = h | 1`, or 0 everywhere if the key is 0, with the hash h of key, `id`, row, position and c that `burin.dropout_mask`
    has. `burin.dropout_by_key` reads it.

    ```mlir
    %y = burin.dropout_keys %i, %p, %k width 4 id 7 : tensor<2x1x1xi32>, tensor<8x1xi32>, tensor<i32>
    ```
  }];
  let arguments = (ins Burin_I32Tensor:$rows, Burin_I32Tensor:$positions, Burin_I32Tensor:$key, I64Attr:$width, I64Attr:$id);
  let results = (outs Burin_I32Tensor:$y);
  let assemblyFormat = [{
    $rows `,` $positions `,` $key `width` $width `id` $id attr-dict `:` type($rows) `,` type($positions) `,` type($key)
  }];
}
