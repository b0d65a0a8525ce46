include "passes/ir/base.td"

def Burin_ToFloatOp : Burin_OpByRuleWithoutDerivative<"to_float", [Burin_IsElementwise]> {
  let summary = "integers as f32";
  let description = [{
    `y = x`, converted from i32 to the nearest f32.

    ```mlir
    %y = burin.to_float %x : tensor<8x16xi32>
    ```
  }];
  let arguments = (ins Burin_I32Tensor:$x);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
