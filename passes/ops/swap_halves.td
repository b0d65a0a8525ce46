include "passes/ir/base.td"

def Burin_SwapHalvesOp : Burin_OpByRule<"swap_halves", [Burin_IsRowPermuting]> {
  let summary = "exchange the halves of the last dimension";
  let description = [{
    `y[..., i] = x[..., i + d/2]` and the other way round, by copying: strides alone cannot say it. Made by the
    expansion of `burin.rope`.

    ```mlir
    %y = burin.swap_halves %x : tensor<2x8x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
