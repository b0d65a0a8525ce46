include "passes/ir/base.td"

def Burin_ReshapeOp : Burin_OpByRule<"reshape", [Burin_IsView]> {
  let summary = "the same elements in the same order, under another shape";
  let description = [{
    A view: nothing moves. A reshape of a reshape becomes one; to its own shape it is dropped.

    ```mlir
    %y = burin.reshape %x to [2, 4, 16] : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_Tensor:$x, DenseI64ArrayAttr:$shape);
  let results = (outs Burin_Tensor:$y);
  let assemblyFormat = "$x `to` $shape attr-dict `:` type($x)";
  let hasFolder = 1;
}
