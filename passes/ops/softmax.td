include "passes/ir/base.td"

def Burin_SoftmaxOp : Burin_OpByRule<"softmax", [Burin_IsExpandable]> {
  let summary = "exponentials of each row, as shares of their sum";
  let description = [{
    `y[..., c] = e^(x[..., c] - max) / sum over c of e^(x[..., c] - max)`, over the last dimension. A row of minus
    infinities, fully masked, gives zeros and has zero gradients. The adjoint keeps `y`.

    ```mlir
    %y = burin.softmax %x : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
