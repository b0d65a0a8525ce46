// RUN: burin-opt %s --burin-recompute --split-input-file | FileCheck %s
// RUN: burin-opt %s --burin-recompute=products=true --split-input-file | FileCheck %s --check-prefixes=CHECK,AGAIN

// The product is element-wise and both its operands are kept for the backward part anyway: it is not kept but computed again there.
// CHECK-LABEL: func.func @cheap
// CHECK:         %[[P:.+]] = burin.mul %[[A:[a-z0-9]+]], %[[B:[a-z0-9]+]] :
// CHECK:         %[[LOSS:.+]] = burin.reduce_sum %[[P]]
// CHECK:         %[[AGAIN:.+]] = burin.mul %[[A]], %[[B]] {burin.recompute}
// CHECK-NEXT:    burin.mul %[[AGAIN]], %[[LOSS]]
func.func @cheap(%a: tensor<3xf32> {burin.role = "input"}, %b: tensor<3xf32> {burin.role = "input"})
    -> (tensor<f32> {burin.name = "loss", burin.role = "output"}, tensor<3xf32> {burin.name = "w", burin.role = "gradient"}) {
  %p = burin.mul %a, %b : tensor<3xf32>, tensor<3xf32>
  %loss = burin.reduce_sum %p over [0] : tensor<3xf32>
  %g = burin.mul %p, %loss : tensor<3xf32>, tensor<f32>
  return %loss, %g : tensor<f32>, tensor<3xf32>
}

// -----

// A copy of a copy: %q is computed again from %p, which is computed again from the arguments.
// CHECK-LABEL: func.func @chain
// CHECK:         burin.reduce_sum
// CHECK:         %[[P:.+]] = burin.mul %{{.*}}, %{{.*}} {burin.recompute}
// CHECK:         %[[Q:.+]] = burin.scale %[[P]] by {{.*}} {burin.recompute}
// CHECK:         burin.mul %[[Q]]
func.func @chain(%a: tensor<3xf32> {burin.role = "input"}, %b: tensor<3xf32> {burin.role = "input"})
    -> (tensor<f32> {burin.name = "loss", burin.role = "output"}, tensor<3xf32> {burin.name = "w", burin.role = "gradient"}) {
  %p = burin.mul %a, %b : tensor<3xf32>, tensor<3xf32>
  %q = burin.scale %p by 2.0 : tensor<3xf32>
  %loss = burin.reduce_sum %q over [0] : tensor<3xf32>
  %g = burin.mul %q, %loss : tensor<3xf32>, tensor<f32>
  return %loss, %g : tensor<f32>, tensor<3xf32>
}

// -----

// An exponential, too: kept, it would be written to memory and read back.
// CHECK-LABEL: func.func @expensive
// CHECK:         %[[AGAIN:.+]] = burin.exp %{{.*}} {burin.recompute}
// CHECK-NEXT:    burin.mul %[[AGAIN]]
func.func @expensive(%a: tensor<3xf32> {burin.role = "input"})
    -> (tensor<f32> {burin.name = "loss", burin.role = "output"}, tensor<3xf32> {burin.name = "w", burin.role = "gradient"}) {
  %p = burin.exp %a : tensor<3xf32>
  %loss = burin.reduce_sum %p over [0] : tensor<3xf32>
  %g = burin.mul %p, %loss : tensor<3xf32>, tensor<f32>
  return %loss, %g : tensor<f32>, tensor<3xf32>
}

// -----

// The matrix product is not kept for anything else, so computing its scaled copy again would keep it instead: nothing gained.
// CHECK-LABEL: func.func @operand_not_kept
// CHECK-NOT:     burin.recompute
func.func @operand_not_kept(%a: tensor<3x3xf32> {burin.role = "input"})
    -> (tensor<f32> {burin.name = "loss", burin.role = "output"}, tensor<3x3xf32> {burin.name = "w", burin.role = "gradient"}) {
  %m = burin.matmul %a, %a : tensor<3x3xf32>, tensor<3x3xf32>
  %p = burin.scale %m by 2.0 : tensor<3x3xf32>
  %loss = burin.reduce_sum %p over [0, 1] : tensor<3x3xf32>
  %g = burin.mul %p, %loss : tensor<3x3xf32>, tensor<f32>
  return %loss, %g : tensor<f32>, tensor<3x3xf32>
}

// -----

// A layer that widens is kept, or by option computed again, once for all its readers. One that narrows is kept, and so is the last.
// CHECK-LABEL: func.func @widens
// CHECK-SAME:    (%[[X:[a-z0-9]+]]: tensor<2x3xf32>
// AGAIN:         burin.reduce_sum
// AGAIN:         %[[WIDE:.+]] = burin.matmul %[[X]], %{{.*}} {burin.recompute}
// AGAIN-NOT:     burin.matmul
// AGAIN:         burin.add %[[WIDE]],
// AGAIN-NEXT:    burin.mul %{{.*}}, %[[WIDE]]
// CHECK:         return
func.func @widens(%x: tensor<2x3xf32> {burin.role = "input"}, %up: tensor<3x7xf32> {burin.role = "parameter"},
                  %down: tensor<7x2xf32> {burin.role = "parameter"}, %last: tensor<2x5xf32> {burin.role = "parameter"})
    -> (tensor<f32> {burin.name = "loss", burin.role = "output"}, tensor<2x7xf32> {burin.name = "w", burin.role = "gradient"},
        tensor<2x2xf32> {burin.name = "n", burin.role = "gradient"}, tensor<2x5xf32> {burin.name = "l", burin.role = "gradient"}) {
  %wide = burin.matmul %x, %up : tensor<2x3xf32>, tensor<3x7xf32>
  %narrow = burin.matmul %wide, %down : tensor<2x7xf32>, tensor<7x2xf32>
  %logits = burin.matmul %narrow, %last : tensor<2x2xf32>, tensor<2x5xf32>
  %loss = burin.reduce_sum %logits over [0, 1] : tensor<2x5xf32>
  %l = burin.mul %logits, %loss : tensor<2x5xf32>, tensor<f32>
  %n = burin.mul %narrow, %loss : tensor<2x2xf32>, tensor<f32>
  %s = burin.add %wide, %loss : tensor<2x7xf32>, tensor<f32>
  %g = burin.mul %s, %wide : tensor<2x7xf32>, tensor<2x7xf32>
  return %loss, %g, %n, %l : tensor<f32>, tensor<2x7xf32>, tensor<2x2xf32>, tensor<2x5xf32>
}
