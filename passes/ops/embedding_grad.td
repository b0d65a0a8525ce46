include "passes/ir/base.td"

def Burin_EmbeddingGradOp : Burin_OpByRuleWithoutDerivative<"embedding_grad", [Burin_IsSelfTiled, Burin_IsAddingInto]> {
  let summary = "add rows into a table";
  let description = [{
    `y[r, :] = start[r, :]` + the sum of `dy[..., :]` over the places where `ids[...] = r`, in their order, so that equal inputs
    give equal bits: a cell owns a part of the table and walks over all ids. Made by the adjoint of `burin.embedding`, starting from zeros
    or from the gradient so far.

    ```mlir
    %y = burin.embedding_grad %ids, %dy into %start : tensor<2x8xi32>, tensor<2x8x16xf32>, tensor<32x16xf32>
    ```
  }];
  let arguments = (ins Burin_I32Tensor:$ids, Burin_F32Tensor:$dy, Burin_F32Tensor:$start);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$ids `,` $dy `into` $start attr-dict `:` type($ids) `,` type($dy) `,` type($start)";
}
