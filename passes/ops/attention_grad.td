include "passes/ir/base.td"

def Burin_AttentionGradOp
    : Burin_PureOp<"attention_grad", [InferTypeOpAdaptor, Burin_HasCost, Burin_NoDerivative, IsolatedFromAbove,
                                   Burin_IsSelfTiledAnd<["makesWholeMatrices", "takesBf16", "givesBf16"]>]> {
  let summary = "the gradients of attention's q, k and v, scores computed again block by block";
  let description = [{
    With `p = e^(f(q k^T) - maximum) * rsum` and `delta[..., t] = sum over d of dout * out`:

        dv = (m p)^T dout,  dz = p * (m (dout v^T) - delta),  ds = f'(q k^T) * dz,  dq = ds k,  dk = ds^T q

    The first region is attention's f and m. The second gives ds from the score, the extras and dz; it is built once, by the
    adjoints of the ops in f. Has no derivative of its own: gradients of gradients are not derived.

    ```mlir
    %dq, %dk, %dv = burin.attention_grad %q, %k, %v, %out, %maximum, %rsum, %dout : (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) {
    ^bb0(%score: tensor<f32>):
      %scaled = burin.scale %score by 5.000000e-01 : tensor<f32>
      burin.yield %scaled : tensor<f32>
    }, {
    ^bb0(%score: tensor<f32>, %dz: tensor<f32>):
      %ds = burin.scale %dz by 5.000000e-01 : tensor<f32>
      burin.yield %ds : tensor<f32>
    }
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$q, Burin_F32Tensor:$k, Burin_F32Tensor:$v, Burin_F32Tensor:$out, Burin_F32Tensor:$maximum,
                       Burin_F32Tensor:$rsum, Burin_F32Tensor:$dout, Variadic<Burin_Tensor>:$extras);
  let results = (outs Burin_F32Tensor:$dq, Burin_F32Tensor:$dk, Burin_F32Tensor:$dv);
  let regions = (region SizedRegion<1>:$score, SizedRegion<1>:$derivative);
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $out `,` $maximum `,` $rsum `,` $dout (`with` $extras^)? attr-dict `:` functional-type(operands, results)
    $score `,` $derivative
  }];
  let hasRegionVerifier = 1;
}
