include "passes/ir/base.td"

def Burin_AfterOp : Burin_Op<"after", [Burin_IsSelfTiled]> {
  let summary = "a tensor that is not there before another one is";
  let description = [{
    `y = x`, copied. Nothing is read from `done`: the op only says that whatever reads `y` is computed after `done`, so that work which could stand side
    by side follows one upon the other and shares memory. Expansions into chunks use it.

    ```mlir
    %y = burin.after %done, %x : tensor<50x8xf32>, tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Burin_Tensor:$done, Burin_Tensor:$x);
  let results = (outs Burin_Tensor:$y);
  let assemblyFormat = "$done `,` $x attr-dict `:` type($done) `,` type($x)";
}
