// RUN: burin-opt %s --burin-plan | FileCheck %s

// A chain of four values of 256 bytes, transposed on the way, so that none can be written over the one before: each
// lives from the group that makes it to the next one, and two places do.
//   %a: groups 0-1, at 0.   %b: groups 1-2, at 256.   %c: groups 2-3, at 0 again.   %y is the output.
// CHECK-LABEL: @chain
// CHECK-SAME:    burin.bytes = array<i64: 0, 0, 0, 0, 512, 256, 256>
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 5, 4>, burin.offsets = array<i64: 0, 0>}
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 4, 4>, burin.offsets = array<i64: 0, 256>}
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 4, 4>, burin.offsets = array<i64: 256, 0>}
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 4, 6>, burin.offsets = array<i64: 0, 0>}
func.func @chain(%x: tensor<8x8xf32> {burin.role = "input", burin.name = "x"}) -> (tensor<8x8xf32> {burin.role = "output", burin.name = "y"}) attributes {burin.entry} {
  %a = burin.group "rows" (%x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>):
    %t = burin.transpose %i by [1, 0] : tensor<8x8xf32>
    %o = burin.exp %t : tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  %b = burin.group "rows" (%a) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>):
    %t = burin.transpose %i by [1, 0] : tensor<8x8xf32>
    %o = burin.exp %t : tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  %c = burin.group "rows" (%b) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>):
    %t = burin.transpose %i by [1, 0] : tensor<8x8xf32>
    %o = burin.exp %t : tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  %y = burin.group "rows" (%c) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>):
    %t = burin.transpose %i by [1, 0] : tensor<8x8xf32>
    %o = burin.exp %t : tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  return %y : tensor<8x8xf32>
}

// Element by element each value is written over the one before; %a is read once more, so %b is not. The output is written over %a, the
// first of the two that it reads, which so lies in the output's place from the beginning.
// CHECK-LABEL: @over
// CHECK-SAME:    burin.bytes = array<i64: 0, 0, 0, 0, 256, 256, 256>
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 5, 6>, burin.offsets = array<i64: 0, 0>}
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 6, 4>, burin.offsets = array<i64: 0, 0>}
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 4, 4>, burin.offsets = array<i64: 0, 0>}
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 4, 6, 6>, burin.offsets = array<i64: 0, 0, 0>}
func.func @over(%x: tensor<8x8xf32> {burin.role = "input", burin.name = "x"}) -> (tensor<8x8xf32> {burin.role = "output", burin.name = "y"}) attributes {burin.entry} {
  %a = burin.group "rows" (%x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>):
    %o = burin.exp %i : tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  %b = burin.group "rows" (%a) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>):
    %o = burin.exp %i : tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  %c = burin.group "rows" (%b) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>):
    %o = burin.exp %i : tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  %y = burin.group "rows" (%c, %a) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>, %j: tensor<8x8xf32>):
    %o = burin.add %i, %j : tensor<8x8xf32>, tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  return %y : tensor<8x8xf32>
}

// A reduction has read the whole row before the last sweep, so what is made in that one may take the row's place.
// CHECK-LABEL: @reduced
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 5, 6>, burin.offsets = array<i64: 0, 0>}
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 6, 6>, burin.offsets = array<i64: 0, 0>}
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 6, 6>, burin.offsets = array<i64: 0, 0>}
func.func @reduced(%x: tensor<8x8xf32> {burin.role = "input", burin.name = "x"}) -> (tensor<8x8xf32> {burin.role = "output", burin.name = "y"}) attributes {burin.entry} {
  %a = burin.group "rows" (%x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>):
    %o = burin.exp %i : tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  %b = burin.group "rows" (%a) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>):
    %e = burin.exp %i : tensor<8x8xf32>
    %s = burin.reduce_sum %e over [1] keep_dims : tensor<8x8xf32>
    %o = burin.sub %i, %s : tensor<8x8xf32>, tensor<8x1xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  %y = burin.group "rows" (%b) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>):
    %o = burin.exp %i : tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  return %y : tensor<8x8xf32>
}

// What is made in an earlier sweep may not: %e comes first and leaves %a alone, %o takes its place.
// CHECK-LABEL: @swept_twice
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 5, 4>, burin.offsets = array<i64: 0, 0>}
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 4, 4, 4>, burin.offsets = array<i64: 0, 256, 0>}
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 4, 4, 6>, burin.offsets = array<i64: 256, 0, 0>}
func.func @swept_twice(%x: tensor<8x8xf32> {burin.role = "input", burin.name = "x"}) -> (tensor<8x8xf32> {burin.role = "output", burin.name = "y"}) attributes {burin.entry} {
  %a = burin.group "rows" (%x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>):
    %o = burin.exp %i : tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  %b, %c = burin.group "rows" (%a) : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  ^bb0(%i: tensor<8x8xf32>):
    %e = burin.exp %i : tensor<8x8xf32>
    %s = burin.reduce_sum %e over [1] keep_dims : tensor<8x8xf32>
    %o = burin.sub %i, %s : tensor<8x8xf32>, tensor<8x1xf32>
    burin.yield %e, %o : tensor<8x8xf32>, tensor<8x8xf32>
  }
  %y = burin.group "rows" (%b, %c) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>, %j: tensor<8x8xf32>):
    %t = burin.transpose %i by [1, 0] : tensor<8x8xf32>
    %u = burin.transpose %j by [1, 0] : tensor<8x8xf32>
    %o = burin.add %t, %u : tensor<8x8xf32>, tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  return %y : tensor<8x8xf32>
}

// A gradient in two parts is added up where the former one lies. Where that is read once more after the first part (@read_again), the first
// part waits in the arena.
// CHECK-LABEL: @parts
// CHECK-SAME:    burin.bytes = array<i64: 0, 256, 0, 0, 0, 256, 0>
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 5, 1, 1>, burin.offsets = array<i64: 0, 0, 0>}
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 1, 5, 1>, burin.offsets = array<i64: 0, 0, 0>}
func.func @parts(%x: tensor<8x8xf32> {burin.role = "input", burin.name = "x"}, %former: tensor<8x8xf32> {burin.role = "gradient", burin.name = "w", burin.offset = 0 : i64})
    -> (tensor<8x8xf32> {burin.role = "gradient", burin.name = "w", burin.offset = 0 : i64}) attributes {burin.entry} {
  %a = burin.group "rows" (%x, %former) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>, %j: tensor<8x8xf32>):
    %o = burin.add %i, %j : tensor<8x8xf32>, tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  %b = burin.group "rows" (%a, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>, %j: tensor<8x8xf32>):
    %o = burin.add %i, %j : tensor<8x8xf32>, tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  return %b : tensor<8x8xf32>
}

// CHECK-LABEL: @read_again
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 5, 4>, burin.offsets = array<i64: 0, 0>}
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 4, 1, 1>, burin.offsets = array<i64: 0, 0, 0>}
func.func @read_again(%x: tensor<8x8xf32> {burin.role = "input", burin.name = "x"}, %former: tensor<8x8xf32> {burin.role = "gradient", burin.name = "w", burin.offset = 0 : i64})
    -> (tensor<8x8xf32> {burin.role = "gradient", burin.name = "w", burin.offset = 0 : i64}) attributes {burin.entry} {
  %a = burin.group "rows" (%x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>):
    %o = burin.exp %i : tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  %b = burin.group "rows" (%a, %former) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>, %j: tensor<8x8xf32>):
    %o = burin.add %i, %j : tensor<8x8xf32>, tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  return %b : tensor<8x8xf32>
}

// Rows are added to a table where it lies: the zeros, or the former gradient, in the gradient's place, and the sum on top.
// CHECK-LABEL: @added_into
// CHECK-SAME:    burin.bytes = array<i64: 0, 256, 0, 0, 0, 128, 0>
// CHECK:         burin.group "rows" (%{{.*}}) {burin.buffers = array<i64: 1, 1>, burin.offsets = array<i64: 0, 0>}
// CHECK:         burin.group "self" (%{{.*}}) {burin.buffers = array<i64: 5, 5, 1, 1>, burin.offsets = array<i64: 0, 64, 0, 0>}
func.func @added_into(%ids: tensor<2xi32> {burin.role = "input", burin.name = "ids"}, %dy: tensor<2x8xf32> {burin.role = "input", burin.name = "dy"},
                      %former: tensor<8x8xf32> {burin.role = "gradient", burin.name = "w", burin.offset = 0 : i64})
    -> (tensor<8x8xf32> {burin.role = "gradient", burin.name = "w", burin.offset = 0 : i64}) attributes {burin.entry} {
  %a = burin.group "rows" (%former) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>):
    %o = burin.exp %i : tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  %b = burin.group "self" (%ids, %dy, %a) : (tensor<2xi32>, tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<2xi32>, %j: tensor<2x8xf32>, %k: tensor<8x8xf32>):
    %o = burin.embedding_grad %i, %j into %k : tensor<2xi32>, tensor<2x8xf32>, tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  return %b : tensor<8x8xf32>
}

// Where the start is read once more, the result lies elsewhere and the kernel copies.
// CHECK-LABEL: @start_read_again
// CHECK:         burin.group "self" (%{{.*}}) {burin.buffers = array<i64: 5, 5, 6, 4>, burin.offsets = array<i64: 0, 64, 0, 0>}
func.func @start_read_again(%ids: tensor<2xi32> {burin.role = "input", burin.name = "ids"}, %dy: tensor<2x8xf32> {burin.role = "input", burin.name = "dy"},
                            %x: tensor<8x8xf32> {burin.role = "input", burin.name = "x"}) -> (tensor<8x8xf32> {burin.role = "output", burin.name = "y"}) attributes {burin.entry} {
  %a = burin.group "rows" (%x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>):
    %o = burin.exp %i : tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  %b = burin.group "self" (%ids, %dy, %a) : (tensor<2xi32>, tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<2xi32>, %j: tensor<2x8xf32>, %k: tensor<8x8xf32>):
    %o = burin.embedding_grad %i, %j into %k : tensor<2xi32>, tensor<2x8xf32>, tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  %c = burin.group "rows" (%a, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<8x8xf32>, %j: tensor<8x8xf32>):
    %o = burin.mul %i, %j : tensor<8x8xf32>, tensor<8x8xf32>
    burin.yield %o : tensor<8x8xf32>
  }
  return %c : tensor<8x8xf32>
}
