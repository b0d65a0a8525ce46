include "passes/ir/base.td"

def Burin_OneHotOp : Burin_OpByRuleWithoutDerivative<"one_hot", [Burin_IsElementwise]> {
  let summary = "mark a class in each row";
  let description = [{
    `y[..., c] = 1` where `ids[..., 0] = c`, else 0, as i32, for `c < classes`. An id of -1 marks nothing. Made by
    the expansion of `burin.cross_entropy`.

    ```mlir
    %y = burin.one_hot %ids classes 16 : tensor<8x1xi32>
    ```
  }];
  let arguments = (ins Burin_I32Tensor:$ids, I64Attr:$classes);
  let results = (outs Burin_I32Tensor:$y);
  let assemblyFormat = "$ids `classes` $classes attr-dict `:` type($ids)";
}
