include "passes/ir/base.td"

def Burin_SwigluOp : Burin_Op<"swiglu", [Burin_IsExpandable]> {
  let summary = "the gated half of a feed-forward layer: silu(x w_gate^T) * (x w_up^T)";
  let description = [{
    `y = silu(gate) * up`, with `gate = x w_gate^T` and `up = x w_up^T`; the weights are (out, in). Both products are results as
    well, for the adjoint to read.

    The rule of the adjoint: products are kept, what is element-wise is computed again. So `gate` and `up` stay from the forward to
    the backward pass, `silu(gate)` does not.

    ```mlir
    %y, %gate, %up = burin.swiglu %x, %w_gate, %w_up : tensor<2x8x16xf32>, tensor<40x16xf32>, tensor<40x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$x, Burin_F32Tensor:$w_gate, Burin_F32Tensor:$w_up);
  let results = (outs Burin_F32Tensor:$y, Burin_F32Tensor:$gate, Burin_F32Tensor:$up);
  let assemblyFormat = "$x `,` $w_gate `,` $w_up attr-dict `:` type($x) `,` type($w_gate) `,` type($w_up)";
}
