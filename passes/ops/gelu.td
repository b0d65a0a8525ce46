include "passes/ir/base.td"

def Burin_GeluOp : Burin_OpByRule<"gelu", [Burin_IsExpensiveElementwise]> {
  let summary = "x times the normal distribution function";
  let description = [{
    `y = x * P(N(0, 1) <= x)`, by the error function, or with `approximate` `y = x/2 * (1 + tanh(sqrt(2/pi) * (x +
    0.044715 x^3)))`. The adjoint keeps `x`.

    ```mlir
    %y = burin.gelu %x approximate : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x, UnitAttr:$approximate);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x (`approximate` $approximate^)? attr-dict `:` type($x)";
}
