include "passes/ir/base.td"

def Burin_ConcatOp : Burin_Op<"concat", [Burin_IsSelfTiled]> {
  let summary = "the operands one after the other along the first dimension";
  let description = [{
    The adjoint of each operand is its slice of the gradient.

    ```mlir
    %y = burin.concat %a, %b : tensor<4x16xf32>, tensor<3x16xf32>
    ```
  }];
  let arguments = (ins Variadic<Burin_Tensor>:$parts);
  let results = (outs Burin_Tensor:$y);
  let assemblyFormat = "$parts attr-dict `:` type($parts)";
}
