include "passes/ir/base.td"

def Burin_DropoutByKeyOp : Burin_OpByRuleWithoutDerivative<"dropout_by_key", [Burin_IsElementwise]> {
  let summary = "the factors of dropout from a key for each row and a number for each column";
  let description = [{
    `y = 0` where `m(key + column) >> 1 < rate * 2^31` in 32 bits, with the m of `burin.dropout_mask`, else `1 / (1 - rate)`;
    1 where the key is 0. The operands broadcast to the result.

    ```mlir
    %y = burin.dropout_by_key %k, %c rate 1.000000e-01 : tensor<2x4x8x1xi32>, tensor<1x8xi32>
    ```
  }];
  let arguments = (ins Burin_I32Tensor:$keys, Burin_I32Tensor:$columns, F64Attr:$rate);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$keys `,` $columns `rate` $rate attr-dict `:` type($keys) `,` type($columns)";
}
