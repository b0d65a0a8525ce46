include "passes/ir/base.td"

def Burin_GeluSlopeOp : Burin_OpByRuleWithoutDerivative<"gelu_slope", [Burin_IsExpensiveElementwise]> {
  let summary = "the derivative of gelu";
  let description = [{
    `y = d gelu(x) / dx`, of the form that `approximate` names. Made by the adjoint of `burin.gelu`.

    ```mlir
    %y = burin.gelu_slope %x approximate : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x, UnitAttr:$approximate);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x (`approximate` $approximate^)? attr-dict `:` type($x)";
}
