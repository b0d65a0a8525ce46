include "passes/ir/base.td"

def Burin_EmbeddingOp : Burin_OpByRule<"embedding", [Burin_IsSelfTiled, Burin_HasBounds]> {
  let summary = "rows of a table";
  let description = [{
    `y[..., :] = table[ids[...], :]`. Ids are checked where they enter the program. The adjoint keeps `ids`.

    ```mlir
    %y = burin.embedding %table, %ids : tensor<32x16xf32>, tensor<2x8xi32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$table, Burin_I32Tensor:$ids);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$table `,` $ids attr-dict `:` type($table) `,` type($ids)";
}
