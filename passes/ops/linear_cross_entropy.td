include "passes/ir/base.td"

def Burin_LinearCrossEntropyOp : Burin_Op<"linear_cross_entropy", [Burin_IsExpandable]> {
  let summary = "cross_entropy(x w^T, targets), a few rows at a time";
  let description = [{
    `loss = sum over rows r with targets[r] != -1 of ln(sum over c of e^logits[r, c]) - logits[r, targets[r]]`, with `logits = x w^T`.

    The rows are cut into `chunks` pieces, as equal as can be, and the logits of one piece exist at a time. Their gradient is best made while
    they exist, so `dx` and `dw`, for a loss gradient of 1, are results of the forward op; the adjoint scales them. Where nobody
    reads them they are not computed.

    ```mlir
    %loss, %dx, %dw = burin.linear_cross_entropy %x, %w, %targets chunks 4 : tensor<16x8xf32>, tensor<50x8xf32>, tensor<16xi32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x, Burin_F32Tensor:$w, Burin_I32Tensor:$targets, I64Attr:$chunks);
  let results = (outs Burin_F32Tensor:$loss, Burin_F32Tensor:$dx, Burin_F32Tensor:$dw);
  let assemblyFormat = "$x `,` $w `,` $targets `chunks` $chunks attr-dict `:` type($x) `,` type($w) `,` type($targets)";
}
