// RUN: burin-opt %s --burin-fuse-swiglu --split-input-file --verify-diagnostics | FileCheck %s

// A gated layer whose intermediates have one reader becomes one op, on whichever side of the product the gate stands.
// CHECK-LABEL: @gated
// CHECK-SAME:  (%[[X:.+]]: tensor<2x8x16xf32>, %[[GATE:.+]]: tensor<40x16xf32>, %[[UP:.+]]: tensor<40x16xf32>)
// CHECK-NEXT:  %[[Y:.+]], %{{.+}}, %{{.+}} = burin.swiglu %[[X]], %[[GATE]], %[[UP]] : tensor<2x8x16xf32>
// CHECK-NEXT:  return %[[Y]]
func.func @gated(%x: tensor<2x8x16xf32>, %wg: tensor<40x16xf32>, %wu: tensor<40x16xf32>) -> tensor<2x8x40xf32> {
  %g = burin.matmul %x, %wg transpose_b : tensor<2x8x16xf32>, tensor<40x16xf32>
  %u = burin.matmul %x, %wu transpose_b : tensor<2x8x16xf32>, tensor<40x16xf32>
  %s = burin.silu %g : tensor<2x8x40xf32>
  %y = burin.mul %u, %s : tensor<2x8x40xf32>, tensor<2x8x40xf32>
  return %y : tensor<2x8x40xf32>
}

// -----

// Weights stored as (in, out) are seen transposed.
// CHECK-LABEL: @stored_in_by_out
// CHECK-SAME:  (%[[X:.+]]: tensor<8x16xf32>, %[[GATE:.+]]: tensor<16x40xf32>, %[[UP:.+]]: tensor<40x16xf32>)
// CHECK:       %[[T:.+]] = burin.transpose %[[GATE]] by [1, 0]
// CHECK:       burin.swiglu %[[X]], %[[T]], %[[UP]]
func.func @stored_in_by_out(%x: tensor<8x16xf32>, %wg: tensor<16x40xf32>, %wu: tensor<40x16xf32>) -> tensor<8x40xf32> {
  %g = burin.matmul %x, %wg : tensor<8x16xf32>, tensor<16x40xf32>
  %u = burin.matmul %x, %wu transpose_b : tensor<8x16xf32>, tensor<40x16xf32>
  %s = burin.silu %g : tensor<8x40xf32>
  %y = burin.mul %s, %u : tensor<8x40xf32>, tensor<8x40xf32>
  return %y : tensor<8x40xf32>
}

// -----

// The gate is also returned: it must exist anyway.
// CHECK-LABEL: @gate_escapes
// CHECK-NOT:   burin.swiglu
func.func @gate_escapes(%x: tensor<8x16xf32>, %wg: tensor<40x16xf32>, %wu: tensor<40x16xf32>) -> (tensor<8x40xf32>, tensor<8x40xf32>) {
  %g = burin.matmul %x, %wg transpose_b : tensor<8x16xf32>, tensor<40x16xf32>
  %u = burin.matmul %x, %wu transpose_b : tensor<8x16xf32>, tensor<40x16xf32>
  %s = burin.silu %g : tensor<8x40xf32>
  // expected-remark @+1 {{swiglu not fused: the gate has a second reader; keeps 1.3 KB}}
  %y = burin.mul %s, %u : tensor<8x40xf32>, tensor<8x40xf32>
  return %y, %s : tensor<8x40xf32>, tensor<8x40xf32>
}

// -----

// CHECK-LABEL: @different_inputs
// CHECK-NOT:   burin.swiglu
func.func @different_inputs(%x: tensor<8x16xf32>, %z: tensor<8x16xf32>, %wg: tensor<40x16xf32>, %wu: tensor<40x16xf32>) -> tensor<8x40xf32> {
  %g = burin.matmul %x, %wg transpose_b : tensor<8x16xf32>, tensor<40x16xf32>
  %u = burin.matmul %z, %wu transpose_b : tensor<8x16xf32>, tensor<40x16xf32>
  %s = burin.silu %g : tensor<8x40xf32>
  // expected-remark @+1 {{swiglu not fused: the gate and the other product read different inputs}}
  %y = burin.mul %s, %u : tensor<8x40xf32>, tensor<8x40xf32>
  return %y : tensor<8x40xf32>
}

// -----

// Another activation is another layer: nothing is said, and grouping joins what it can.
// CHECK-LABEL: @squared_relu_gate
// CHECK-NOT:   burin.swiglu
func.func @squared_relu_gate(%x: tensor<8x16xf32>, %wg: tensor<40x16xf32>, %wu: tensor<40x16xf32>) -> tensor<8x40xf32> {
  %g = burin.matmul %x, %wg transpose_b : tensor<8x16xf32>, tensor<40x16xf32>
  %u = burin.matmul %x, %wu transpose_b : tensor<8x16xf32>, tensor<40x16xf32>
  %r = burin.relu %g : tensor<8x40xf32>
  %rr = burin.mul %r, %r : tensor<8x40xf32>, tensor<8x40xf32>
  %y = burin.mul %rr, %u : tensor<8x40xf32>, tensor<8x40xf32>
  return %y : tensor<8x40xf32>
}
