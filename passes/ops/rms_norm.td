include "passes/ir/base.td"

def Burin_RmsNormOp : Burin_OpByRule<"rms_norm", [Burin_IsExpandable]> {
  let summary = "divide each row by its root mean square, then scale by a gain";
  let description = [{
    `y[..., c] = x[..., c] * gain[c] * rstd`, with `rstd = 1 / sqrt(mean over c of x[..., c]^2 + eps)` accumulated
    in f32.

    The adjoint reads `x` and recomputes `rstd`: one value per row is cheaper to redo than to keep from the forward
    to the backward pass.

    ```mlir
    %y = burin.rms_norm %x, %gain eps 1.000000e-05 : tensor<8x16xf32>, tensor<16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x, Burin_F32Tensor:$gain, F64Attr:$eps);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = "$x `,` $gain `eps` $eps attr-dict `:` type($x) `,` type($gain)";
}
