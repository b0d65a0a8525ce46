// RUN: burin-opt %s --burin-differentiate --split-input-file --verify-diagnostics | FileCheck %s

// The gradient's seed is the loss scale; the new gradient replaces or joins the former one, at the parameter's offset.
// CHECK-LABEL: func.func @product
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3xf32> {burin.name = "x", burin.role = "input"}
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<3xf32> {burin.name = "w", burin.offset = 64 : i64, burin.role = "parameter"}
// CHECK-SAME:    %[[SCALE:[a-z0-9]+]]: tensor<f32> {burin.name = "loss_scale", burin.role = "input"}
// CHECK-SAME:    %[[ACCUMULATE:[a-z0-9]+]]: tensor<f32> {burin.name = "accumulate", burin.role = "input"}
// CHECK-SAME:    %[[FORMER:[a-z0-9]+]]: tensor<3xf32> {burin.name = "w", burin.offset = 64 : i64, burin.role = "gradient"}
// CHECK-SAME:    -> (tensor<f32> {burin.name = "loss", burin.role = "output"}, tensor<3xf32> {burin.name = "w", burin.offset = 64 : i64, burin.role = "gradient"})
// CHECK-NOT:     burin.differentiate
// CHECK:         %[[G:.+]] = burin.mul %{{.*}}, %[[X]] {burin.of = "mul"}
// CHECK:         %[[SUM:.+]] = burin.add %[[FORMER]], %[[G]]
// CHECK:         %[[NEW:.+]] = burin.where %{{.*}}, %[[G]], %[[SUM]]
// CHECK:         return %{{.*}}, %[[NEW]]
func.func @product(%x: tensor<3xf32> {burin.name = "x", burin.role = "input"}, %w: tensor<3xf32> {burin.name = "w", burin.offset = 64 : i64, burin.role = "parameter"})
    -> (tensor<f32> {burin.name = "loss", burin.role = "output"}) attributes {burin.entry, burin.differentiate} {
  %p = burin.mul %w, %x : tensor<3xf32>, tensor<3xf32>
  %y = burin.reduce_sum %p over [0] : tensor<3xf32>
  return %y : tensor<f32>
}

// -----

// Two readers give two gradients, which are added: the first to the former gradient, the second to that.
// CHECK-LABEL: func.func @two_readers
// CHECK:         %[[A:.+]] = burin.mul %{{.*}} {burin.of = "mul"}
// CHECK:         %[[B:.+]] = burin.mul %{{.*}} {burin.of = "mul"}
// CHECK:         %[[FIRST:.+]] = burin.where %{{.*}}, %[[A]], %{{.*}}
// CHECK:         %[[BOTH:.+]] = burin.add %[[FIRST]], %[[B]]
// CHECK:         return %{{.*}}, %[[BOTH]]
func.func @two_readers(%w: tensor<f32> {burin.name = "w", burin.offset = 0 : i64, burin.role = "parameter"})
    -> (tensor<f32> {burin.name = "loss", burin.role = "output"}) attributes {burin.entry, burin.differentiate} {
  %y = burin.mul %w, %w : tensor<f32>, tensor<f32>
  return %y : tensor<f32>
}

// -----

// An entry that does not ask for gradients is left alone.
// CHECK-LABEL: func.func @forward_only
// CHECK-NOT:     loss_scale
func.func @forward_only(%w: tensor<f32> {burin.name = "w", burin.offset = 0 : i64, burin.role = "parameter"})
    -> (tensor<f32> {burin.name = "loss", burin.role = "output"}) attributes {burin.entry} {
  return %w : tensor<f32>
}

// -----

// Rows of a table are added to its gradient so far: no gradient of the table's size is made for either of its readers.
// CHECK-LABEL: func.func @table
// CHECK-SAME:    %[[FORMER:[a-z0-9]+]]: tensor<5x3xf32> {burin.name = "w", burin.offset = 0 : i64, burin.role = "gradient"}
// CHECK:         %[[START:.+]] = burin.where %{{.*}}, %{{.*}}, %[[FORMER]]
// CHECK:         %[[ONE:.+]] = burin.embedding_grad %{{.*}}, %{{.*}} into %[[START]]
// CHECK:         %[[BOTH:.+]] = burin.embedding_grad %{{.*}}, %{{.*}} into %[[ONE]]
// CHECK-NOT:     burin.add
// CHECK:         return %{{.*}}, %[[BOTH]]
func.func @table(%i: tensor<2xi32> {burin.name = "i", burin.role = "input"}, %j: tensor<2xi32> {burin.name = "j", burin.role = "input"}, %w: tensor<5x3xf32> {burin.name = "w", burin.offset = 0 : i64, burin.role = "parameter"})
    -> (tensor<f32> {burin.name = "loss", burin.role = "output"}) attributes {burin.entry, burin.differentiate} {
  %x = burin.embedding %w, %i : tensor<5x3xf32>, tensor<2xi32>
  %y = burin.embedding %w, %j : tensor<5x3xf32>, tensor<2xi32>
  %p = burin.mul %x, %y : tensor<2x3xf32>, tensor<2x3xf32>
  %l = burin.reduce_sum %p over [0, 1] : tensor<2x3xf32>
  return %l : tensor<f32>
}

// -----

// Nothing goes through what has no derivative by nature: the gradient of a parameter that is only compared is zero.
// CHECK-LABEL: func.func @compared
// CHECK:         %[[ZERO:.+]] = burin.constant 0.0{{.*}} : tensor<3xf32>
// CHECK:         burin.where %{{.*}}, %[[ZERO]], %{{.*}}
func.func @compared(%w: tensor<3xf32> {burin.name = "w", burin.offset = 0 : i64, burin.role = "parameter"})
    -> (tensor<f32> {burin.name = "loss", burin.role = "output"}) attributes {burin.entry, burin.differentiate} {
  %c = burin.greater_equal %w, %w : tensor<3xf32>, tensor<3xf32>
  %f = burin.to_float %c : tensor<3xi32>
  %y = burin.reduce_sum %f over [0] : tensor<3xf32>
  return %y : tensor<f32>
}

// -----

// An op on the way that knows no derivative: its name, its place and the whole way.
func.func @no_derivative(%w: tensor<3xf32> {burin.name = "layers.0.w", burin.offset = 0 : i64, burin.role = "parameter"})
    -> (tensor<f32> {burin.name = "loss", burin.role = "output"}) attributes {burin.entry, burin.differentiate} {
  %s = burin.scale %w by 2.0 : tensor<3xf32>
  // expected-error@+1 {{'negf' has no derivative but lies between a parameter and the loss: layers.0.w -> scale -> negf -> reduce_sum -> loss}}
  %n = arith.negf %s : tensor<3xf32>
  %y = burin.reduce_sum %n over [0] : tensor<3xf32>
  return %y : tensor<f32>
}

// -----

// expected-error@+1 {{there is no result named 'loss' to differentiate}}
func.func @no_loss(%w: tensor<f32> {burin.name = "w", burin.offset = 0 : i64, burin.role = "parameter"})
    -> (tensor<f32> {burin.name = "y", burin.role = "output"}) attributes {burin.entry, burin.differentiate} {
  return %w : tensor<f32>
}
