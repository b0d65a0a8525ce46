include "passes/ir/base.td"

def Burin_SinusoidOp : Burin_OpByRuleWithoutDerivative<"sinusoid", [Burin_IsExpensiveElementwise]> {
  let summary = "sines and cosines of positions";
  let description = [{
    `y[..., 2i] = sin(a)`, `y[..., 2i + 1] = cos(a)` with `a = positions[..., 0] * theta^(-2i/width)`. Angles are computed in
    f64, since f32 would lose a late position.

    ```mlir
    %y = burin.sinusoid %p width 16 theta 1.000000e+04 : tensor<8x1xi32>
    ```
  }];
  let arguments = (ins Burin_I32Tensor:$positions, I64Attr:$width, F64Attr:$theta);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$positions `width` $width `theta` $theta attr-dict `:` type($positions)";
}
