include "passes/ir/base.td"

def Burin_EmbeddingGradOp : Burin_OpByRuleWithoutDerivative<"embedding_grad", [Burin_IsSelfTiled]> {
  let summary = "add rows into a table";
  let description = [{
    `y[r, :]` = the sum of `dy[..., :]` over the places where `ids[...] = r`, in their order, so that equal inputs
    give equal bits: a cell is a block of columns and walks over all ids. Made by the adjoint of `burin.embedding`.

    ```mlir
    %y = burin.embedding_grad %ids, %dy rows 32 : tensor<2x8xi32>, tensor<2x8x16xf32>
    ```
  }];
  let arguments = (ins Burin_I32Tensor:$ids, Burin_F32Tensor:$dy, I64Attr:$rows);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$ids `,` $dy `rows` $rows attr-dict `:` type($ids) `,` type($dy)";
}
