include "passes/ir/base.td"

def Burin_SwapPairsOp : Burin_OpByRule<"swap_pairs", [Burin_IsElementwise]> {
  let summary = "exchange neighbours in the last dimension";
  let description = [{
    `y[..., 2i] = x[..., 2i + 1]` and the other way round. Made by the expansion of `burin.rope`.

    ```mlir
    %y = burin.swap_pairs %x : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
