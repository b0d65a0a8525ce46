include "passes/ir/base.td"

def Burin_MatmulOp : Burin_OpByRule<"matmul", [Burin_IsContraction, Burin_IsExpandable]> {
  let summary = "matrix product";
  let description = [{
    `y[..., m, n] = sum over k of lhs[..., m, k] * rhs[..., k, n]`. A rank-2 `rhs` is shared by all leading
    dimensions of `lhs`; otherwise both have the same ones. A transposed operand is stored with its last two
    dimensions swapped.

    A product far deeper than it is wide expands into a sum of products of parts of the depth.

    The adjoint keeps both operands. With a shared `rhs` it works on the rows of all leading dimensions at once, so
    that the gradient of a weight is one product.

    ```mlir
    %y = burin.matmul %x, %w transpose_b : tensor<2x8x16xf32>, tensor<32x16xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$lhs, Burin_F32Tensor:$rhs, UnitAttr:$transpose_a, UnitAttr:$transpose_b);
  let results = (outs Burin_F32Tensor:$y);
  let assemblyFormat = [{
    $lhs `,` $rhs (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)? attr-dict
    `:` type($lhs) `,` type($rhs)
  }];
}
