include "passes/ir/base.td"

def Burin_IsFiniteOp : Burin_OpByRuleWithoutDerivative<"is_finite", [Burin_IsElementwise]> {
  let summary = "find infinities and NaNs";
  let description = [{
    `y = 1` where `x` is neither infinite nor NaN, else 0, as i32.

    ```mlir
    %y = burin.is_finite %x : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x);
  let results = (outs Burin_I32Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
