// RUN: burin-opt %s --burin-differentiate --canonicalize | FileCheck %s

// The gradient of a weight that all leading dimensions share is one product of flattened rows; an input that nobody differentiates gets
// no gradient.
// CHECK-LABEL: @shared_weight
// CHECK-SAME:    (%[[X:[^:]+]]: tensor<2x8x16xf32> {{[^}]*}}}, %[[W:[^:]+]]: tensor<32x16xf32>
// CHECK:         burin.matmul %[[X]], %[[W]] transpose_b
// CHECK-DAG:     %[[ROWS:.+]] = burin.reshape %[[X]] to [16, 16]
// CHECK-DAG:     %[[DY:.+]] = burin.reshape %{{.+}} to [16, 32]
// CHECK:         burin.matmul %[[DY]], %[[ROWS]] transpose_a {{.*}}: tensor<16x32xf32>, tensor<16x16xf32>
// CHECK-NOT:     burin.matmul
func.func @shared_weight(%x: tensor<2x8x16xf32> {burin.role = "input", burin.name = "x"},
                         %w: tensor<32x16xf32> {burin.role = "parameter", burin.name = "w", burin.offset = 0 : i64})
    -> (tensor<f32> {burin.role = "output", burin.name = "loss"})
    attributes {burin.entry, burin.differentiate, burin.batch = 2 : i64, burin.length = 8 : i64} {
  %y = burin.matmul %x, %w transpose_b : tensor<2x8x16xf32>, tensor<32x16xf32>
  %loss = burin.reduce_sum %y over [0, 1, 2] : tensor<2x8x32xf32>
  return %loss : tensor<f32>
}

// A rotation is undone by rotating back; its positions are all that it keeps.
// CHECK-LABEL: @rotation
// CHECK:         burin.rope %{{.+}}, %[[P:.+]] theta 1.000000e+04 : tensor<2x8x4xf32>, tensor<8xi32>
// CHECK:         burin.rope %{{.+}}, %[[P]] theta 1.000000e+04 inverse
func.func @rotation(%x: tensor<2x8x4xf32> {burin.role = "parameter", burin.name = "x", burin.offset = 0 : i64},
                    %p: tensor<8xi32> {burin.role = "input", burin.name = "p"})
    -> (tensor<f32> {burin.role = "output", burin.name = "loss"})
    attributes {burin.entry, burin.differentiate, burin.batch = 2 : i64, burin.length = 8 : i64} {
  %y = burin.rope %x, %p theta 1.0e4 : tensor<2x8x4xf32>, tensor<8xi32>
  %loss = burin.reduce_sum %y over [0, 1, 2] : tensor<2x8x4xf32>
  return %loss : tensor<f32>
}
