include "passes/ir/base.td"

def Burin_SliceOp : Burin_OpByRule<"slice", [Burin_IsView]> {
  let summary = "some consecutive rows: elements start .. start + size of the first dimension";
  let description = [{
    `y[i, ...] = x[start + i, ...]` for `i < size`. The adjoint puts zeros around the gradient.

    ```mlir
    %y = burin.slice %x from 4 size 2 : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_Tensor:$x, I64Attr:$start, I64Attr:$size);
  let results = (outs Burin_Tensor:$y);
  let assemblyFormat = "$x `from` $start `size` $size attr-dict `:` type($x)";
}
