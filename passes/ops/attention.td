include "passes/ir/base.td"

def Burin_AttentionOp : Burin_Op<"attention", [IsolatedFromAbove, SingleBlock, Burin_IsSelfTiledAnd<["takesBf16", "givesBf16"]>]> {
  let summary = "softmax(f(q k^T)) v without the matrix of scores in memory";
  let description = [{
    `out[..., t, :] = sum over s of m[..., t, s] p[..., t, s] v[..., s, :]`, with `p = softmax over s of f(q k^T)`.

    The region is f, the element-wise work on a score (scale, mask, bias, softcap), written on 0-d tensors: its first argument is
    the score, the others are the elements of `extras`, which broadcast to the scores' shape [..., T, S] (positions [T, 1] and
    [1, S], slopes [H, 1, 1], a mask [T, S]). A row whose scores are all -inf gives 0. Where it yields a second value, that is the
    factor m, which no score may reach (dropout); m = 1 otherwise.

    `maximum` and `rsum` hold for each row the largest score and 1 / sum of e^(score - maximum), 0 for a row without any. The adjoint is
    `burin.attention_grad`, which reads them, `out` and the operands, and computes the scores again.

    ```mlir
    %out, %maximum, %rsum = burin.attention %q, %k, %v with %i, %j : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>, tensor<16x1xi32>, tensor<1x16xi32>) -> (tensor<2x4x16x8xf32>, tensor<2x4x16xf32>, tensor<2x4x16xf32>) {
    ^bb0(%score: tensor<f32>, %query: tensor<i32>, %key: tensor<i32>):
      %keep = burin.greater_equal %query, %key : tensor<i32>, tensor<i32>
      %masked = burin.mask %score, %keep : tensor<f32>, tensor<i32>
      burin.yield %masked : tensor<f32>
    }
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$q, Burin_F32Tensor:$k, Burin_F32Tensor:$v, Variadic<Burin_Tensor>:$extras);
  let results = (outs Burin_F32Tensor:$out, Burin_F32Tensor:$maximum, Burin_F32Tensor:$rsum);
  let regions = (region SizedRegion<1>:$score);
  let assemblyFormat = "$q `,` $k `,` $v (`with` $extras^)? attr-dict `:` functional-type(operands, results) $score";
  let hasRegionVerifier = 1;
}
