include "passes/ir/base.td"

def Burin_DropoutMaskOp : Burin_OpByRuleWithoutDerivative<"dropout_mask", [Burin_IsElementwise]> {
  let summary = "the factors of dropout: 0, or what makes up for the zeros";
  let description = [{
    `y[..., c] = 0` for a share `rate` of the elements, else `1 / (1 - rate)`; 1 everywhere if the key is 0. Which elements,
    a hash of key, `id`, row, position and c says, so that nothing has to be kept and no order matters:
    `h = m(m(m(m(key + id * 0x9e3779b9) + row) + position) + c)` in 32 bits with
    `m(h): h ^= h >> 16; h *= 0x7feb352d; h ^= h >> 15; h *= 0x846ca68b; h ^= h >> 16`;
    an element is put out where `h >> 1 < rate * 2^31`.

    ```mlir
    %y = burin.dropout_mask %i, %p, %k width 16 rate 1.000000e-01 id 7 : tensor<2x1x1xi32>, tensor<8x1xi32>, tensor<i32>
    ```
  }];
  let arguments = (ins Burin_I32Tensor:$rows, Burin_I32Tensor:$positions, Burin_I32Tensor:$key, I64Attr:$width,
                       F64Attr:$rate, I64Attr:$id);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = [{
    $rows `,` $positions `,` $key `width` $width `rate` $rate `id` $id attr-dict `:` type($rows) `,` type($positions) `,`
    type($key)
  }];
}
