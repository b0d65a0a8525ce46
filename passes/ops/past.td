include "passes/ir/base.td"

def Burin_PastOp : Burin_OpByRule<"past", [Burin_IsView]> {
  let summary = "everything so far along the second last dimension";
  let description = [{
    The identity in training, where a sequence is whole. In entries that see tokens one by one it appends to what is
    kept and gives all of it.

    ```mlir
    %y = burin.past %x : tensor<2x8x16xf32>
    ```
  }];
  let arguments = (ins Burin_Tensor:$x);
  let results = (outs Burin_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
