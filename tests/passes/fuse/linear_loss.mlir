// RUN: burin-opt %s --burin-fuse-linear-loss --split-input-file --verify-diagnostics | FileCheck %s
// RUN: burin-opt %s --burin-fuse-linear-loss=always=true --split-input-file | FileCheck %s --check-prefix=ALWAYS

// The logits are nearly all there is: they are made in chunks of at least 256 rows.
// CHECK-LABEL: @large
// CHECK-SAME:  (%[[X:.+]]: tensor<2x500x4xf32>, %[[W:.+]]: tensor<50x4xf32>, %[[T:.+]]: tensor<2x500xi32>)
// CHECK-DAG:   %[[ROWS:.+]] = burin.reshape %[[X]] to [1000, 4]
// CHECK-DAG:   %[[FLAT:.+]] = burin.reshape %[[T]] to [1000]
// CHECK:       %[[LOSS:.+]], %{{.+}}, %{{.+}} = burin.linear_cross_entropy %[[ROWS]], %[[W]], %[[FLAT]] chunks 3
// CHECK:       return %[[LOSS]]
// ALWAYS-LABEL: @large
// ALWAYS:      chunks 8
func.func @large(%x: tensor<2x500x4xf32>, %w: tensor<50x4xf32>, %t: tensor<2x500xi32>) -> tensor<f32> {
  %y = burin.scale %x by 2.0 : tensor<2x500x4xf32>
  %logits = burin.matmul %x, %w transpose_b : tensor<2x500x4xf32>, tensor<50x4xf32>
  %loss = burin.cross_entropy %logits, %t : tensor<2x500x50xf32>, tensor<2x500xi32>
  return %loss : tensor<f32>
}

// -----

// Chunks are no more than rows; logits reshaped before the loss are the same rows; weights stored (in, out) are seen transposed.
// CHECK-LABEL: @few_rows
// CHECK-NOT:   burin.linear_cross_entropy
// ALWAYS-LABEL: @few_rows
// ALWAYS:      %[[W:.+]] = burin.transpose
// ALWAYS:      burin.linear_cross_entropy %{{.+}}, %[[W]], %{{.+}} chunks 3
func.func @few_rows(%x: tensor<1x3x4xf32>, %w: tensor<4x50xf32>, %t: tensor<3xi32>) -> tensor<f32> {
  %logits = burin.matmul %x, %w : tensor<1x3x4xf32>, tensor<4x50xf32>
  %flat = burin.reshape %logits to [3, 50] : tensor<1x3x50xf32>
  // expected-remark @+1 {{linear+loss not fused: there are 3 rows, and chunks have at least 256; keeps 600 bytes}}
  %loss = burin.cross_entropy %flat, %t : tensor<3x50xf32>, tensor<3xi32>
  return %loss : tensor<f32>
}

// -----

// Logits that are small beside the rest are not worth cutting up, unless it is asked for.
// CHECK-LABEL: @small
// CHECK-NOT:   burin.linear_cross_entropy
// ALWAYS-LABEL: @small
// ALWAYS:      burin.linear_cross_entropy
func.func @small(%x: tensor<16x90xf32>, %w: tensor<10x90xf32>, %t: tensor<16xi32>) -> tensor<f32> {
  %y = burin.gelu %x : tensor<16x90xf32>
  %logits = burin.matmul %y, %w transpose_b : tensor<16x90xf32>, tensor<10x90xf32>
  // expected-remark @+1 {{linear+loss not fused: the logits are 9 % of all activations, and more than 10 % would be worth it; keeps 640 bytes}}
  %loss = burin.cross_entropy %logits, %t : tensor<16x10xf32>, tensor<16xi32>
  return %loss : tensor<f32>
}

// -----

// Whoever else reads the logits needs all of them.
// CHECK-LABEL: @logits_escape
// CHECK-NOT:   burin.linear_cross_entropy
// ALWAYS-LABEL: @logits_escape
// ALWAYS-NOT:  burin.linear_cross_entropy
func.func @logits_escape(%x: tensor<16x4xf32>, %w: tensor<50x4xf32>, %t: tensor<16xi32>) -> (tensor<f32>, tensor<16x50xf32>) {
  %logits = burin.matmul %x, %w transpose_b : tensor<16x4xf32>, tensor<50x4xf32>
  // expected-remark @+1 {{linear+loss not fused: the logits have a second reader; keeps 3.2 KB}}
  %loss = burin.cross_entropy %logits, %t : tensor<16x50xf32>, tensor<16xi32>
  return %loss, %logits : tensor<f32>, tensor<16x50xf32>
}
