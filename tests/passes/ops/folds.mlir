// RUN: burin-opt %s --canonicalize | FileCheck %s

// A zero that needs no broadcasting is dropped, on either side.
// CHECK-LABEL: @add_zero
// CHECK-SAME:    (%[[X:.+]]: tensor<8x16xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @add_zero(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %zero = burin.constant 0.0 : tensor<f32>
  %a = burin.add %x, %zero : tensor<8x16xf32>, tensor<f32>
  %b = burin.add %zero, %a : tensor<f32>, tensor<8x16xf32>
  return %b : tensor<8x16xf32>
}

// A zero that stretches the other side stays: the sum has its shape.
// CHECK-LABEL: @add_stretching_zero
// CHECK:         burin.add
func.func @add_stretching_zero(%x: tensor<16xf32>) -> tensor<8x16xf32> {
  %zero = burin.constant 0.0 : tensor<8x16xf32>
  %a = burin.add %x, %zero : tensor<16xf32>, tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}

// The gradients of three slices become one tensor, whatever the order in which they are added.
// CHECK-LABEL: @add_of_slices
// CHECK-SAME:    (%[[A:.+]]: tensor<2x5xf32>, %[[B:.+]]: tensor<3x5xf32>, %[[C:.+]]: tensor<1x5xf32>)
// CHECK-NEXT:    %[[Y:.+]] = burin.concat %[[A]], %[[B]], %[[C]]
// CHECK-NEXT:    return %[[Y]]
func.func @add_of_slices(%a: tensor<2x5xf32>, %b: tensor<3x5xf32>, %c: tensor<1x5xf32>) -> tensor<6x5xf32> {
  %zero1 = burin.constant 0.0 : tensor<1x5xf32>
  %zero2 = burin.constant 0.0 : tensor<2x5xf32>
  %zero4 = burin.constant 0.0 : tensor<4x5xf32>
  %zero5 = burin.constant 0.0 : tensor<5x5xf32>
  %da = burin.concat %a, %zero4 : tensor<2x5xf32>, tensor<4x5xf32>
  %db = burin.concat %zero2, %b, %zero1 : tensor<2x5xf32>, tensor<3x5xf32>, tensor<1x5xf32>
  %dc = burin.concat %zero5, %c : tensor<5x5xf32>, tensor<1x5xf32>
  %ca = burin.add %dc, %da : tensor<6x5xf32>, tensor<6x5xf32>
  %y = burin.add %db, %ca : tensor<6x5xf32>, tensor<6x5xf32>
  return %y : tensor<6x5xf32>
}

// Slices that overlap must be added.
// CHECK-LABEL: @add_of_overlapping_slices
// CHECK:         burin.add
func.func @add_of_overlapping_slices(%a: tensor<2x5xf32>, %b: tensor<2x5xf32>) -> tensor<3x5xf32> {
  %zero = burin.constant 0.0 : tensor<1x5xf32>
  %da = burin.concat %a, %zero : tensor<2x5xf32>, tensor<1x5xf32>
  %db = burin.concat %zero, %b : tensor<1x5xf32>, tensor<2x5xf32>
  %y = burin.add %da, %db : tensor<3x5xf32>, tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// A factor of 1 is dropped.
// CHECK-LABEL: @scale_by_one
// CHECK-NEXT:    return
func.func @scale_by_one(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = burin.scale %x by 1.0 : tensor<8xf32>
  return %y : tensor<8xf32>
}

// Two factors stay two: their product would round otherwise.
// CHECK-LABEL: @scale_twice
// CHECK:         burin.scale
// CHECK:         burin.scale
func.func @scale_twice(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = burin.scale %x by 0.1 : tensor<8xf32>
  %z = burin.scale %y by 0.2 : tensor<8xf32>
  return %z : tensor<8xf32>
}

// Reshapes join; back to the first shape nothing is left.
// CHECK-LABEL: @reshapes
// CHECK-SAME:    (%[[X:.+]]: tensor<8x16xf32>)
// CHECK-NEXT:    %[[Y:.+]] = burin.reshape %[[X]] to [16, 8] : tensor<8x16xf32>
// CHECK-NEXT:    return %[[X]], %[[Y]]
func.func @reshapes(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<16x8xf32>) {
  %a = burin.reshape %x to [2, 4, 16] : tensor<8x16xf32>
  %b = burin.reshape %a to [8, 16] : tensor<2x4x16xf32>
  %c = burin.reshape %a to [16, 8] : tensor<2x4x16xf32>
  return %b, %c : tensor<8x16xf32>, tensor<16x8xf32>
}

// Transposes join into the permutation that does both; a permutation and its inverse cancel.
// CHECK-LABEL: @transposes
// CHECK-SAME:    (%[[X:.+]]: tensor<2x3x4xf32>)
// CHECK-NEXT:    %[[Y:.+]] = burin.transpose %[[X]] by [0, 2, 1] : tensor<2x3x4xf32>
// CHECK-NEXT:    return %[[Y]], %[[X]]
func.func @transposes(%x: tensor<2x3x4xf32>) -> (tensor<2x4x3xf32>, tensor<2x3x4xf32>) {
  %a = burin.transpose %x by [1, 2, 0] : tensor<2x3x4xf32>
  %b = burin.transpose %a by [2, 1, 0] : tensor<3x4x2xf32>
  %c = burin.transpose %a by [2, 0, 1] : tensor<3x4x2xf32>
  return %b, %c : tensor<2x4x3xf32>, tensor<2x3x4xf32>
}

// A transpose that a reshape separates from its inverse moves elements: nothing cancels.
// CHECK-LABEL: @transposes_apart
// CHECK:         burin.transpose
// CHECK:         burin.reshape
// CHECK:         burin.transpose
func.func @transposes_apart(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %a = burin.transpose %x by [1, 0] : tensor<2x3xf32>
  %b = burin.reshape %a to [2, 3] : tensor<3x2xf32>
  %c = burin.transpose %b by [1, 0] : tensor<2x3xf32>
  return %c : tensor<3x2xf32>
}
