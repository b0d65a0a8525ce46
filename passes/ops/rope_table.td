include "passes/ir/base.td"

def Burin_RopeTableOp : Burin_OpByRuleWithoutDerivative<"rope_table", [Burin_IsExpensiveElementwise]> {
  let summary = "cosines or sines of the angles of rope";
  let description = [{
    `y[..., t, j]` = the cosine, or with `sine` the signed sine, of `positions[..., t, 0] * theta^(-2i/d)`, where
    `i` is the pair of element `j`. The sign is that of the formula of `burin.rope`: minus for the first element of
    a pair, so `rope(x) = x * cosines + swapped(x) * sines`. Angles are computed in f64, since f32 would lose a late
    position. Made by the expansion of `burin.rope`.

    ```mlir
    %y = burin.rope_table %p dim 16 theta 1.000000e+04 sine : tensor<8x1xi32>
    ```
  }];
  let arguments = (ins Burin_I32Tensor:$positions, I64Attr:$dim, F64Attr:$theta, UnitAttr:$half_split, UnitAttr:$sine);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = [{
    $positions `dim` $dim `theta` $theta (`half_split` $half_split^)? (`sine` $sine^)? attr-dict `:` type($positions)
  }];
}
