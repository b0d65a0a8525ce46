include "passes/ir/base.td"

def Burin_RopeOp : Burin_OpByRule<"rope", [Burin_IsExpandable]> {
  let summary = "rotate pairs of the last dimension by their position";
  let description = [{
    `(y0, y1) = (x0 cos a - x1 sin a, x0 sin a + x1 cos a)` with `a = positions[t] * theta^(-2i/d)` for pair `i`:
    the elements `(2i, 2i + 1)`, or `(i, i + d/2)` with `half_split`. `inverse` turns the other way: that is the
    adjoint, which keeps only positions.

    ```mlir
    %y = burin.rope %x, %p theta 1.000000e+04 half_split : tensor<2x4x8x16xf32>, tensor<8xi32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x, Burin_I32Tensor:$positions, F64Attr:$theta, UnitAttr:$half_split,
                       UnitAttr:$inverse);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = [{
    $x `,` $positions `theta` $theta (`half_split` $half_split^)? (`inverse` $inverse^)? attr-dict
    `:` type($x) `,` type($positions)
  }];
}
