// RUN: burin-opt %s --burin-fuse-attention --split-input-file --verify-diagnostics | FileCheck %s

// Scale and causal mask become the region; positions are its extra operands.
// CHECK-LABEL: @causal
// CHECK-SAME:  (%[[Q:.+]]: tensor<2x4x16x8xf32>, %[[K:.+]]: tensor<2x4x16x8xf32>, %[[V:.+]]: tensor<2x4x16x8xf32>, %[[I:.+]]: tensor<16x1xi32>, %[[J:.+]]: tensor<1x16xi32>)
// CHECK-NEXT:  %[[OUT:.+]], %{{.+}}, %{{.+}} = burin.attention %[[Q]], %[[K]], %[[V]] with %[[I]], %[[J]]
// CHECK-NEXT:  ^bb0(%[[S:.+]]: tensor<f32>, %[[A:.+]]: tensor<i32>, %[[B:.+]]: tensor<i32>):
// CHECK-NEXT:    %[[SCALED:.+]] = burin.scale %[[S]] by 5.000000e-01 : tensor<f32>
// CHECK-NEXT:    %[[KEEP:.+]] = burin.greater_equal %[[A]], %[[B]] : tensor<i32>, tensor<i32>
// CHECK-NEXT:    %[[MASKED:.+]] = burin.mask %[[SCALED]], %[[KEEP]] : tensor<f32>, tensor<i32>
// CHECK-NEXT:    burin.yield %[[MASKED]] : tensor<f32>
// CHECK:       return %[[OUT]]
func.func @causal(%q: tensor<2x4x16x8xf32>, %k: tensor<2x4x16x8xf32>, %v: tensor<2x4x16x8xf32>, %i: tensor<16x1xi32>, %j: tensor<1x16xi32>) -> tensor<2x4x16x8xf32> {
  %s = burin.matmul %q, %k transpose_b : tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>
  %scaled = burin.scale %s by 0.5 : tensor<2x4x16x16xf32>
  %keep = burin.greater_equal %i, %j : tensor<16x1xi32>, tensor<1x16xi32>
  %masked = burin.mask %scaled, %keep : tensor<2x4x16x16xf32>, tensor<16x16xi32>
  %p = burin.softmax %masked : tensor<2x4x16x16xf32>
  %o = burin.matmul %p, %v : tensor<2x4x16x16xf32>, tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}

// -----

// Nothing between the product and the softmax: the region is the identity. One head without leading dimensions, fewer queries than keys.
// CHECK-LABEL: @plain
// CHECK:       burin.attention %{{.+}}, %{{.+}}, %{{.+}} : (tensor<5x8xf32>, tensor<7x8xf32>, tensor<7x3xf32>) -> (tensor<5x3xf32>, tensor<5xf32>, tensor<5xf32>)
// CHECK-NEXT:  ^bb0(%[[S:.+]]: tensor<f32>):
// CHECK-NEXT:    burin.yield %[[S]]
func.func @plain(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>) -> tensor<5x3xf32> {
  %s = burin.matmul %q, %k transpose_b : tensor<5x8xf32>, tensor<7x8xf32>
  %p = burin.softmax %s : tensor<5x7xf32>
  %o = burin.matmul %p, %v : tensor<5x7xf32>, tensor<7x3xf32>
  return %o : tensor<5x3xf32>
}

// -----

// An explicit transpose of k, read through past, is the same as a transposed product.
// CHECK-LABEL: @explicit_transpose
// CHECK-SAME:  (%[[Q:.+]]: tensor<3x16x8xf32>, %[[K:.+]]: tensor<3x16x8xf32>, %[[V:.+]]: tensor<3x16x8xf32>)
// CHECK:       %[[PK:.+]] = burin.past %[[K]]
// CHECK:       %[[PV:.+]] = burin.past %[[V]]
// CHECK:       burin.attention %[[Q]], %[[PK]], %[[PV]]
func.func @explicit_transpose(%q: tensor<3x16x8xf32>, %k: tensor<3x16x8xf32>, %v: tensor<3x16x8xf32>) -> tensor<3x16x8xf32> {
  %pk = burin.past %k : tensor<3x16x8xf32>
  %pv = burin.past %v : tensor<3x16x8xf32>
  %kt = burin.transpose %pk by [0, 2, 1] : tensor<3x16x8xf32>
  %s = burin.matmul %q, %kt : tensor<3x16x8xf32>, tensor<3x8x16xf32>
  %p = burin.softmax %s : tensor<3x16x16xf32>
  %o = burin.matmul %p, %pv : tensor<3x16x16xf32>, tensor<3x16x8xf32>
  return %o : tensor<3x16x8xf32>
}

// -----

// Softcap and ALiBi: any element-wise work, operands of any broadcast shape. The distances are made again inside, from positions.
// CHECK-LABEL: @softcap_alibi
// CHECK-SAME:  %[[SLOPES:[a-z0-9]+]]: tensor<4x1x1xf32>, %[[I:[a-z0-9]+]]: tensor<16x1xf32>, %[[J:[a-z0-9]+]]: tensor<1x16xf32>
// CHECK-NOT:   burin.sub
// CHECK:       burin.attention {{.+}} with %[[J]], %[[I]], %[[SLOPES]]
// CHECK:         burin.scale
// CHECK:         burin.tanh
// CHECK:         burin.scale
// CHECK:         %[[D:.+]] = burin.sub %{{.+}} : tensor<f32>, tensor<f32>
// CHECK:         burin.mul %[[D]], %{{.+}} : tensor<f32>, tensor<f32>
// CHECK:         burin.add
// CHECK:         burin.yield
func.func @softcap_alibi(%q: tensor<2x4x16x8xf32>, %k: tensor<2x4x16x8xf32>, %v: tensor<2x4x16x8xf32>, %slopes: tensor<4x1x1xf32>, %i: tensor<16x1xf32>, %j: tensor<1x16xf32>) -> tensor<2x4x16x8xf32> {
  %s = burin.matmul %q, %k transpose_b : tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>
  %small = burin.scale %s by 2.0e-2 : tensor<2x4x16x16xf32>
  %bent = burin.tanh %small : tensor<2x4x16x16xf32>
  %capped = burin.scale %bent by 50.0 : tensor<2x4x16x16xf32>
  %d = burin.sub %j, %i : tensor<1x16xf32>, tensor<16x1xf32>
  %bias = burin.mul %d, %slopes : tensor<16x16xf32>, tensor<4x1x1xf32>
  %biased = burin.add %capped, %bias : tensor<2x4x16x16xf32>, tensor<4x16x16xf32>
  %p = burin.softmax %biased : tensor<2x4x16x16xf32>
  %o = burin.matmul %p, %v : tensor<2x4x16x16xf32>, tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}

// -----

// A mask that comes from outside as a matrix is read, and a mask that another reader needs stays beside the fused op.
// CHECK-LABEL: @given_and_shared_mask
// CHECK-SAME:  %[[GIVEN:[a-z0-9]+]]: tensor<16x16xi32>
// CHECK:       %[[KEEP:.+]] = burin.greater_equal
// CHECK:       burin.attention {{.+}} with %{{.+}}, %{{.+}}, %[[GIVEN]]
// CHECK:         burin.greater_equal
// CHECK:         burin.mul
// CHECK:       return %{{.+}}, %[[KEEP]]
func.func @given_and_shared_mask(%q: tensor<3x16x8xf32>, %k: tensor<3x16x8xf32>, %v: tensor<3x16x8xf32>, %given: tensor<16x16xi32>, %i: tensor<16x1xi32>, %j: tensor<1x16xi32>) -> (tensor<3x16x8xf32>, tensor<16x16xi32>) {
  %s = burin.matmul %q, %k transpose_b : tensor<3x16x8xf32>, tensor<3x16x8xf32>
  %keep = burin.greater_equal %i, %j : tensor<16x1xi32>, tensor<1x16xi32>
  %both = burin.mul %keep, %given : tensor<16x16xi32>, tensor<16x16xi32>
  %masked = burin.mask %s, %both : tensor<3x16x16xf32>, tensor<16x16xi32>
  %p = burin.softmax %masked : tensor<3x16x16xf32>
  %o = burin.matmul %p, %v : tensor<3x16x16xf32>, tensor<3x16x8xf32>
  return %o, %keep : tensor<3x16x8xf32>, tensor<16x16xi32>
}

// -----

// Heads folded into the batch for the products and unfolded for the mask: the fused op works on the unfolded ones.
// CHECK-LABEL: @folded_heads
// CHECK-SAME:  (%[[Q:.+]]: tensor<8x16x8xf32>, %[[K:.+]]: tensor<8x16x8xf32>, %[[V:.+]]: tensor<8x16x8xf32>, %[[KEEP:.+]]: tensor<2x1x16x16xi32>)
// CHECK-DAG:   %[[Q4:.+]] = burin.reshape %[[Q]] to [2, 4, 16, 8]
// CHECK-DAG:   %[[K4:.+]] = burin.reshape %[[K]] to [2, 4, 16, 8]
// CHECK-DAG:   %[[V4:.+]] = burin.reshape %[[V]] to [2, 4, 16, 8]
// CHECK:       %[[OUT:.+]], %{{.+}}, %{{.+}} = burin.attention %[[Q4]], %[[K4]], %[[V4]]
func.func @folded_heads(%q: tensor<8x16x8xf32>, %k: tensor<8x16x8xf32>, %v: tensor<8x16x8xf32>, %keep: tensor<2x1x16x16xi32>) -> tensor<8x16x8xf32> {
  %s = burin.matmul %q, %k transpose_b : tensor<8x16x8xf32>, tensor<8x16x8xf32>
  %s4 = burin.reshape %s to [2, 4, 16, 16] : tensor<8x16x16xf32>
  %masked = burin.mask %s4, %keep : tensor<2x4x16x16xf32>, tensor<2x1x16x16xi32>
  %p4 = burin.softmax %masked : tensor<2x4x16x16xf32>
  %p = burin.reshape %p4 to [8, 16, 16] : tensor<2x4x16x16xf32>
  %o = burin.matmul %p, %v : tensor<8x16x16xf32>, tensor<8x16x8xf32>
  return %o : tensor<8x16x8xf32>
}

// -----

// Scores that are read twice on their way to the softmax are still one region.
// CHECK-LABEL: @score_read_twice_inside
// CHECK:       burin.attention
// CHECK:         %[[GATE:.+]] = burin.sigmoid %[[S:.+]] : tensor<f32>
// CHECK:         burin.mul %[[S]], %[[GATE]]
func.func @score_read_twice_inside(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>) -> tensor<5x3xf32> {
  %s = burin.matmul %q, %k transpose_b : tensor<5x8xf32>, tensor<7x8xf32>
  %gate = burin.sigmoid %s : tensor<5x7xf32>
  %gated = burin.mul %s, %gate : tensor<5x7xf32>, tensor<5x7xf32>
  %p = burin.softmax %gated : tensor<5x7xf32>
  %o = burin.matmul %p, %v : tensor<5x7xf32>, tensor<7x3xf32>
  return %o : tensor<5x3xf32>
}

// -----

// CHECK-LABEL: @scores_escape
// CHECK-NOT:   burin.attention
func.func @scores_escape(%q: tensor<2x4x1000x8xf32>, %k: tensor<2x4x1000x8xf32>, %v: tensor<2x4x1000x8xf32>) -> (tensor<2x4x1000x8xf32>, tensor<2x4x1000x1000xf32>) {
  %s = burin.matmul %q, %k transpose_b : tensor<2x4x1000x8xf32>, tensor<2x4x1000x8xf32>
  // expected-remark @+1 {{attention not fused: the scores have a second reader; keeps 32 MB}}
  %p = burin.softmax %s : tensor<2x4x1000x1000xf32>
  %o = burin.matmul %p, %v : tensor<2x4x1000x1000xf32>, tensor<2x4x1000x8xf32>
  return %o, %s : tensor<2x4x1000x8xf32>, tensor<2x4x1000x1000xf32>
}

// -----

// CHECK-LABEL: @probabilities_escape
// CHECK-NOT:   burin.attention
func.func @probabilities_escape(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>) -> (tensor<5x3xf32>, tensor<5x7xf32>) {
  %s = burin.matmul %q, %k transpose_b : tensor<5x8xf32>, tensor<7x8xf32>
  // expected-remark @+1 {{attention not fused: the probabilities have a second reader; keeps 140 bytes}}
  %p = burin.softmax %s : tensor<5x7xf32>
  %o = burin.matmul %p, %v : tensor<5x7xf32>, tensor<7x3xf32>
  return %o, %p : tensor<5x3xf32>, tensor<5x7xf32>
}

// -----

// A padding mask beside the causal one: a number for each key of a sequence, read as it is.
// CHECK-LABEL: @padded
// CHECK-SAME:  %[[VALID:[a-z0-9]+]]: tensor<2x16xi32>, %[[I:[a-z0-9]+]]: tensor<16x1xi32>, %[[J:[a-z0-9]+]]: tensor<1x16xi32>
// CHECK:       %[[KEEP:.+]] = burin.reshape %[[VALID]] to [2, 1, 1, 16]
// CHECK:       burin.attention {{.+}} with %[[KEEP]], %[[I]], %[[J]]
// CHECK-NEXT:  ^bb0(%[[S:.+]]: tensor<f32>, %[[KEPT:.+]]: tensor<i32>, %{{.+}}: tensor<i32>, %{{.+}}: tensor<i32>):
// CHECK-NEXT:    %[[MASKED:.+]] = burin.mask %[[S]], %[[KEPT]]
// CHECK-NEXT:    %[[CAUSAL:.+]] = burin.greater_equal
// CHECK-NEXT:    %[[BOTH:.+]] = burin.mask %[[MASKED]], %[[CAUSAL]]
// CHECK-NEXT:    burin.yield %[[BOTH]] : tensor<f32>
func.func @padded(%q: tensor<2x4x16x8xf32>, %k: tensor<2x4x16x8xf32>, %v: tensor<2x4x16x8xf32>, %valid: tensor<2x16xi32>, %i: tensor<16x1xi32>, %j: tensor<1x16xi32>) -> tensor<2x4x16x8xf32> {
  %s = burin.matmul %q, %k transpose_b : tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>
  %keep = burin.reshape %valid to [2, 1, 1, 16] : tensor<2x16xi32>
  %masked = burin.mask %s, %keep : tensor<2x4x16x16xf32>, tensor<2x1x1x16xi32>
  %causal = burin.greater_equal %i, %j : tensor<16x1xi32>, tensor<1x16xi32>
  %both = burin.mask %masked, %causal : tensor<2x4x16x16xf32>, tensor<16x16xi32>
  %p = burin.softmax %both : tensor<2x4x16x16xf32>
  %o = burin.matmul %p, %v : tensor<2x4x16x16xf32>, tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}

// -----

// Dropout of the probabilities: its factors are made inside, from a key for each row.
// CHECK-LABEL: @dropout
// CHECK-SAME:  %[[KEYS:[a-z0-9]+]]: tensor<2x4x16x1xi32>, %[[J:[a-z0-9]+]]: tensor<1x16xi32>
// CHECK-NOT:   burin.dropout_by_key
// CHECK:       burin.attention {{.+}} with %[[KEYS]], %[[J]]
// CHECK-NEXT:  ^bb0(%[[S:.+]]: tensor<f32>, %[[KEY:.+]]: tensor<i32>, %[[COLUMN:.+]]: tensor<i32>):
// CHECK-NEXT:    %[[FACTOR:.+]] = burin.dropout_by_key %[[KEY]], %[[COLUMN]] rate 2.000000e-01
// CHECK-NEXT:    burin.yield %[[S]], %[[FACTOR]] : tensor<f32>, tensor<f32>
// CHECK-NOT:   burin.mul
func.func @dropout(%q: tensor<2x4x16x8xf32>, %k: tensor<2x4x16x8xf32>, %v: tensor<2x4x16x8xf32>, %keys: tensor<2x4x16x1xi32>, %j: tensor<1x16xi32>) -> tensor<2x4x16x8xf32> {
  %s = burin.matmul %q, %k transpose_b : tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>
  %p = burin.softmax %s : tensor<2x4x16x16xf32>
  %factors = burin.dropout_by_key %keys, %j rate 0.2 : tensor<2x4x16x1xi32>, tensor<1x16xi32>
  %dropped = burin.mul %p, %factors : tensor<2x4x16x16xf32>, tensor<2x4x16x16xf32>
  %o = burin.matmul %dropped, %v : tensor<2x4x16x16xf32>, tensor<2x4x16x8xf32>
  return %o : tensor<2x4x16x8xf32>
}

// -----

// Factors that are given are read, on whichever side they stand; the heads may be folded after that.
// CHECK-LABEL: @factor_given
// CHECK-SAME:  %[[GIVEN:[a-z0-9]+]]: tensor<5x7xf32>
// CHECK:       burin.attention {{.+}} with %[[GIVEN]]
// CHECK:         burin.yield %{{.+}}, %{{.+}} : tensor<f32>, tensor<f32>
func.func @factor_given(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<8x7x3xf32>, %given: tensor<5x7xf32>) -> tensor<8x5x3xf32> {
  %s = burin.matmul %q, %k transpose_b : tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>
  %p = burin.softmax %s : tensor<2x4x5x7xf32>
  %weighed = burin.mul %given, %p : tensor<5x7xf32>, tensor<2x4x5x7xf32>
  %folded = burin.reshape %weighed to [8, 5, 7] : tensor<2x4x5x7xf32>
  %o = burin.matmul %folded, %v : tensor<8x5x7xf32>, tensor<8x7x3xf32>
  return %o : tensor<8x5x3xf32>
}

// -----

// CHECK-LABEL: @probabilities_changed
// CHECK-NOT:   burin.attention
func.func @probabilities_changed(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>) -> tensor<5x3xf32> {
  %s = burin.matmul %q, %k transpose_b : tensor<5x8xf32>, tensor<7x8xf32>
  // expected-remark @+1 {{attention not fused: the probabilities are changed before they meet the values}}
  %p = burin.softmax %s : tensor<5x7xf32>
  %root = burin.sqrt %p : tensor<5x7xf32>
  %o = burin.matmul %root, %v : tensor<5x7xf32>, tensor<7x3xf32>
  return %o : tensor<5x3xf32>
}

// -----

// Two factors: the second finds probabilities that are changed already.
// CHECK-LABEL: @two_factors
// CHECK-NOT:   burin.attention
func.func @two_factors(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>, %a: tensor<5x7xf32>) -> tensor<5x3xf32> {
  %s = burin.matmul %q, %k transpose_b : tensor<5x8xf32>, tensor<7x8xf32>
  // expected-remark @+1 {{attention not fused: the probabilities are changed before they meet the values}}
  %p = burin.softmax %s : tensor<5x7xf32>
  %once = burin.mul %p, %a : tensor<5x7xf32>, tensor<5x7xf32>
  %twice = burin.mul %once, %a : tensor<5x7xf32>, tensor<5x7xf32>
  %o = burin.matmul %twice, %v : tensor<5x7xf32>, tensor<7x3xf32>
  return %o : tensor<5x3xf32>
}

// -----

// The fused op's adjoint takes the factor for a constant.
// CHECK-LABEL: @factor_of_scores
// CHECK-NOT:   burin.attention
func.func @factor_of_scores(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>) -> tensor<5x3xf32> {
  %s = burin.matmul %q, %k transpose_b : tensor<5x8xf32>, tensor<7x8xf32>
  %gate = burin.sigmoid %s : tensor<5x7xf32>
  // expected-remark @+1 {{attention not fused: the probabilities are multiplied by what is made of the scores}}
  %p = burin.softmax %s : tensor<5x7xf32>
  %gated = burin.mul %p, %gate : tensor<5x7xf32>, tensor<5x7xf32>
  %o = burin.matmul %gated, %v : tensor<5x7xf32>, tensor<7x3xf32>
  return %o : tensor<5x3xf32>
}

// -----

// CHECK-LABEL: @learned_factor
// CHECK-NOT:   burin.attention
func.func @learned_factor(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>, %table: tensor<5x7xf32> {burin.role = "parameter"}) -> tensor<5x3xf32> {
  %s = burin.matmul %q, %k transpose_b : tensor<5x8xf32>, tensor<7x8xf32>
  // expected-remark @+1 {{attention not fused: the probabilities are multiplied by a learned tensor}}
  %p = burin.softmax %s : tensor<5x7xf32>
  %weighed = burin.mul %p, %table : tensor<5x7xf32>, tensor<5x7xf32>
  %o = burin.matmul %weighed, %v : tensor<5x7xf32>, tensor<7x3xf32>
  return %o : tensor<5x3xf32>
}

// -----

// A bias that is trained needs a gradient, which the fused op does not give.
// CHECK-LABEL: @learned_bias
// CHECK-NOT:   burin.attention
func.func @learned_bias(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>, %table: tensor<5x7xf32> {burin.role = "parameter"}) -> tensor<5x3xf32> {
  %s = burin.matmul %q, %k transpose_b : tensor<5x8xf32>, tensor<7x8xf32>
  %bias = burin.scale %table by 2.0 : tensor<5x7xf32>
  %biased = burin.add %s, %bias : tensor<5x7xf32>, tensor<5x7xf32>
  // expected-remark @+1 {{attention not fused: a learned tensor enters between the scores and the softmax}}
  %p = burin.softmax %biased : tensor<5x7xf32>
  %o = burin.matmul %p, %v : tensor<5x7xf32>, tensor<7x3xf32>
  return %o : tensor<5x3xf32>
}

// -----

// A reduction over the scores sees all of a row at once.
// CHECK-LABEL: @row_statistics
// CHECK-NOT:   burin.attention
func.func @row_statistics(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>) -> tensor<5x3xf32> {
  %s = burin.matmul %q, %k transpose_b : tensor<5x8xf32>, tensor<7x8xf32>
  %m = burin.reduce_max %s over [1] keep_dims : tensor<5x7xf32>
  %centred = burin.sub %s, %m : tensor<5x7xf32>, tensor<5x1xf32>
  // expected-remark @+1 {{attention not fused: 'reduce_max' of the scores is not element-wise work}}
  %p = burin.softmax %centred : tensor<5x7xf32>
  %o = burin.matmul %p, %v : tensor<5x7xf32>, tensor<7x3xf32>
  return %o : tensor<5x3xf32>
}

// -----

// CHECK-LABEL: @shared_keys
// CHECK-NOT:   burin.attention
func.func @shared_keys(%q: tensor<4x5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<4x7x3xf32>) -> tensor<4x5x3xf32> {
  %s = burin.matmul %q, %k transpose_b : tensor<4x5x8xf32>, tensor<7x8xf32>
  // expected-remark @+1 {{attention not fused: all heads share their keys}}
  %p = burin.softmax %s : tensor<4x5x7xf32>
  %o = burin.matmul %p, %v : tensor<4x5x7xf32>, tensor<4x7x3xf32>
  return %o : tensor<4x5x3xf32>
}

// -----

// Scores made of a content and a position product.
// CHECK-LABEL: @two_products
// CHECK-NOT:   burin.attention
func.func @two_products(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %r: tensor<7x8xf32>, %v: tensor<7x3xf32>) -> tensor<5x3xf32> {
  %content = burin.matmul %q, %k transpose_b : tensor<5x8xf32>, tensor<7x8xf32>
  %place = burin.matmul %q, %r transpose_b : tensor<5x8xf32>, tensor<7x8xf32>
  %s = burin.add %content, %place : tensor<5x7xf32>, tensor<5x7xf32>
  // expected-remark @+1 {{attention not fused: the scores are made of two products}}
  %p = burin.softmax %s : tensor<5x7xf32>
  %o = burin.matmul %p, %v : tensor<5x7xf32>, tensor<7x3xf32>
  return %o : tensor<5x3xf32>
}

// -----

// A mask with heads of its own before the heads are folded would be another mask afterwards.
// CHECK-LABEL: @mask_before_folding
// CHECK-NOT:   burin.attention
func.func @mask_before_folding(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<8x7x3xf32>, %keep: tensor<4x5x7xi32>) -> tensor<8x5x3xf32> {
  %s = burin.matmul %q, %k transpose_b : tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>
  %masked = burin.mask %s, %keep : tensor<2x4x5x7xf32>, tensor<4x5x7xi32>
  %folded = burin.reshape %masked to [8, 5, 7] : tensor<2x4x5x7xf32>
  // expected-remark @+1 {{attention not fused: the heads are reshaped between the scores and the softmax}}
  %p = burin.softmax %folded : tensor<8x5x7xf32>
  %o = burin.matmul %p, %v : tensor<8x5x7xf32>, tensor<8x7x3xf32>
  return %o : tensor<8x5x3xf32>
}

// -----

// A softmax over classes, or one that gates, is no attention: nothing is said.
// CHECK-LABEL: @router
// CHECK-NOT:   burin.attention
// CHECK:       burin.softmax
func.func @router(%x: tensor<5x8xf32>, %w: tensor<7x8xf32>) -> tensor<5x7xf32> {
  %s = burin.matmul %x, %w transpose_b : tensor<5x8xf32>, tensor<7x8xf32>
  %p = burin.softmax %s : tensor<5x7xf32>
  return %p : tensor<5x7xf32>
}

// -----

// The entry that trains speaks for the entries that hold the same chain.
// CHECK-LABEL: @loss
// CHECK-NOT:   burin.attention
func.func @loss(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x3xf32>) -> (tensor<5x3xf32>, tensor<5x7xf32>) attributes {burin.entry} {
  %s = burin.matmul %q, %k transpose_b : tensor<5x8xf32>, tensor<7x8xf32>
  %p = burin.softmax %s : tensor<5x7xf32>
  %o = burin.matmul %p, %v : tensor<5x7xf32>, tensor<7x3xf32>
  return %o, %p : tensor<5x3xf32>, tensor<5x7xf32>
}
