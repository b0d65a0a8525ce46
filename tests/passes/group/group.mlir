// RUN: burin-opt %s --burin-group --split-input-file | FileCheck %s

// A product takes the element-wise work on its result along; the weight is packed by a launch of its own.
module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // CHECK-LABEL: @residual
  // CHECK:         burin.group "pack"
  // CHECK:           burin.pack_panels %{{.*}} transposed : tensor<24x8xf32> -> tensor<1x8x48xf32>
  // CHECK:         burin.group "contraction"
  // CHECK:           %[[C:.+]] = burin.product
  // CHECK:           burin.add %[[C]]
  // CHECK-NOT:     burin.group
  func.func @residual(%x: tensor<4x8xf32> {burin.role = "input", burin.name = "x"}, %w: tensor<24x8xf32> {burin.role = "parameter", burin.name = "w", burin.offset = 0 : i64},
                      %r: tensor<4x24xf32> {burin.role = "input", burin.name = "r"}) -> (tensor<4x24xf32> {burin.role = "output", burin.name = "y"}) attributes {burin.entry} {
    %c = burin.matmul %x, %w transpose_b : tensor<4x8xf32>, tensor<24x8xf32>
    %y = burin.add %c, %r : tensor<4x24xf32>, tensor<4x24xf32>
    return %y : tensor<4x24xf32>
  }
}

// -----

// What leaves a group through a transpose and a reshape is written in the reader's order: no copy is made.
module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // CHECK-LABEL: @merged_heads
  // CHECK:         burin.group "rows"
  // CHECK:           %[[E:.+]] = burin.exp
  // CHECK:           burin.transpose %[[E]]
  // CHECK:           burin.reshape
  // CHECK:           burin.yield %{{.*}} : tensor<2x4x24xf32>
  // CHECK:         burin.group "rows" (%{{.*}}) : (tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  // CHECK-NOT:     burin.copy
  func.func @merged_heads(%x: tensor<2x3x4x8xf32> {burin.role = "input", burin.name = "x"}) -> (tensor<2x4x24xf32> {burin.role = "output", burin.name = "y"}) attributes {burin.entry} {
    %e = burin.exp %x : tensor<2x3x4x8xf32>
    %t = burin.transpose %e by [0, 2, 1, 3] : tensor<2x3x4x8xf32>
    %m = burin.reshape %t to [2, 4, 24] : tensor<2x4x3x8xf32>
    %y = burin.tanh %m : tensor<2x4x24xf32>
    return %y : tensor<2x4x24xf32>
  }
}

// -----

// An argument cannot be laid out anew, and strides cannot say "merge what was transposed": one copy, then a view of it.
module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // CHECK-LABEL: @argument_needs_copy
  // CHECK:         burin.copy
  // CHECK:         burin.tanh
  func.func @argument_needs_copy(%x: tensor<2x3x4x8xf32> {burin.role = "input", burin.name = "x"}) -> (tensor<2x4x24xf32> {burin.role = "output", burin.name = "y"}) attributes {burin.entry} {
    %t = burin.transpose %x by [0, 2, 1, 3] : tensor<2x3x4x8xf32>
    %m = burin.reshape %t to [2, 4, 24] : tensor<2x4x3x8xf32>
    %y = burin.tanh %m : tensor<2x4x24xf32>
    return %y : tensor<2x4x24xf32>
  }
}

// -----

// Joining the last op to the first group would have two groups read each other: it opens a new one, or joins the second.
module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // CHECK-LABEL: @no_cycle
  // CHECK:         burin.group "contraction"
  // CHECK:           burin.product
  // CHECK:           burin.exp
  // CHECK:         burin.group "contraction"
  // CHECK:           burin.product
  // CHECK:           burin.add
  func.func @no_cycle(%x: tensor<4x8xf32> {burin.role = "input", burin.name = "x"}, %w: tensor<8x8xf32> {burin.role = "parameter", burin.name = "w", burin.offset = 0 : i64})
      -> (tensor<4x8xf32> {burin.role = "output", burin.name = "y"}) attributes {burin.entry} {
    %a = burin.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
    %e = burin.exp %a : tensor<4x8xf32>
    %b = burin.matmul %e, %w : tensor<4x8xf32>, tensor<8x8xf32>
    %y = burin.add %e, %b : tensor<4x8xf32>, tensor<4x8xf32>
    return %y : tensor<4x8xf32>
  }
}

// -----

// Work that only a sum over rows reads is done on its way; what others read too is not.
module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // CHECK-LABEL: @columns
  // CHECK:         burin.group "columns" (%{{.*}}, %{{.*}}) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<1x8xf32>
  // CHECK:           burin.mul
  // CHECK:           burin.reduce_sum
  func.func @columns(%x: tensor<4x8xf32> {burin.role = "input", burin.name = "x"}, %y: tensor<4x8xf32> {burin.role = "input", burin.name = "y"})
      -> (tensor<1x8xf32> {burin.role = "output", burin.name = "s"}) attributes {burin.entry} {
    %m = burin.mul %x, %y : tensor<4x8xf32>, tensor<4x8xf32>
    %s = burin.reduce_sum %m over [0] keep_dims : tensor<4x8xf32>
    return %s : tensor<1x8xf32>
  }
}

// -----

// Heads are pieces of a product's rows: what rotates them is computed with the product, whole heads at a time, and their sums too.
module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // CHECK-LABEL: @heads
  // CHECK:         burin.group "contraction"
  // CHECK:           %[[C:.+]] = burin.product
  // CHECK:           %[[R:.+]] = burin.reshape %[[C]]
  // CHECK:           %[[T:.+]] = burin.transpose %[[R]]
  // CHECK:           burin.swap_halves %[[T]]
  // CHECK:           burin.add
  // CHECK:           burin.reduce_sum
  // CHECK:           burin.yield %{{.*}} : tensor<2x3x40x1xf32>
  // CHECK-NOT:     burin.group
  func.func @heads(%x: tensor<2x40x8xf32> {burin.role = "input", burin.name = "x"}, %w: tensor<24x8xf32> {burin.role = "parameter", burin.name = "w", burin.offset = 0 : i64},
                   %s: tensor<40x8xf32> {burin.role = "input", burin.name = "s"}) -> (tensor<2x3x40x1xf32> {burin.role = "output", burin.name = "y"}) attributes {burin.entry} {
    %c = burin.matmul %x, %w transpose_b : tensor<2x40x8xf32>, tensor<24x8xf32>
    %h = burin.reshape %c to [2, 40, 3, 8] : tensor<2x40x24xf32>
    %t = burin.transpose %h by [0, 2, 1, 3] : tensor<2x40x3x8xf32>
    %o = burin.swap_halves %t : tensor<2x3x40x8xf32>
    %m = burin.mul %o, %s : tensor<2x3x40x8xf32>, tensor<40x8xf32>
    %a = burin.add %t, %m : tensor<2x3x40x8xf32>, tensor<2x3x40x8xf32>
    %y = burin.reduce_sum %a over [3] keep_dims : tensor<2x3x40x8xf32>
    return %y : tensor<2x3x40x1xf32>
  }

  // Matrices of few rows: tiles of products would be cut at each.
  // CHECK-LABEL: @heads_of_few_rows
  // CHECK:         burin.group "contraction"
  // CHECK:         burin.group "rows"
  // CHECK:           burin.exp
  func.func @heads_of_few_rows(%x: tensor<2x4x8xf32> {burin.role = "input", burin.name = "x"}, %w: tensor<24x8xf32> {burin.role = "parameter", burin.name = "w", burin.offset = 0 : i64})
                   -> (tensor<2x3x4x8xf32> {burin.role = "output", burin.name = "y"}) attributes {burin.entry} {
    %c = burin.matmul %x, %w transpose_b : tensor<2x4x8xf32>, tensor<24x8xf32>
    %h = burin.reshape %c to [2, 4, 3, 8] : tensor<2x4x24xf32>
    %t = burin.transpose %h by [0, 2, 1, 3] : tensor<2x4x3x8xf32>
    %y = burin.exp %t : tensor<2x3x4x8xf32>
    return %y : tensor<2x3x4x8xf32>
  }
}
