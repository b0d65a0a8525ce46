include "passes/ir/base.td"

def Burin_ConstantOp : Burin_PureOp<"constant", [Burin_HasCost, Burin_NoDerivative, Burin_IsElementwise]> {
  let summary = "one number everywhere";
  let description = [{
    `y[...] = value`, of f32 or i32. A scalar broadcasts, so shapes are rarely needed.

    ```mlir
    %y = burin.constant 5.000000e-01 : tensor<f32>
    ```
  }];
  let arguments = (ins F64Attr:$value);
  let results = (outs Burin_Tensor:$y);
  let assemblyFormat = "$value attr-dict `:` type($y)";
  // A scalar of f32.
  let builders = [OpBuilder<(ins "double":$value)>];
}
