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

// -----

// In bf16 what only products read is rounded when it is stored, whichever side they read it from; the group that makes
// it sums what it has made, and what is a result lies there as it is.
module attributes {burin.dtype = "bf16", burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // CHECK-LABEL: @stored_in_bf16
  // CHECK:         burin.group "rows" (%{{.*}}) : (tensor<4x8xf32>) -> (tensor<4x8xbf16>, tensor<4x1xf32>) {
  // CHECK:           %[[Y:.+]] = burin.relu %{{.*}} : tensor<4x8xf32>
  // CHECK:           burin.reduce_sum %[[Y]]
  // CHECK:           burin.yield %[[Y]], %{{.*}} : tensor<4x8xf32>, tensor<4x1xf32>
  // CHECK:         burin.group "pack" (%{{.*}}) : (tensor<4x8xbf16>) -> tensor<1x2x96xbf16> {
  // CHECK-NEXT:    ^bb0(%{{.*}}: tensor<4x8xf32>):
  // CHECK:         burin.group "contraction" (%{{.*}}, %{{.*}}) : (tensor<4x8xbf16>, tensor<1x2x96xbf16>) -> tensor<8x8xf32> {
  // CHECK-NEXT:    ^bb0(%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<1x2x96xbf16>):
  func.func @stored_in_bf16(%x: tensor<4x8xf32> {burin.role = "input", burin.name = "x"})
      -> (tensor<8x8xf32> {burin.role = "output", burin.name = "c"}, tensor<4x1xf32> {burin.role = "output", burin.name = "s"}) attributes {burin.entry} {
    %y = burin.relu %x : tensor<4x8xf32>
    %s = burin.reduce_sum %y over [1] keep_dims : tensor<4x8xf32>
    %c = burin.matmul %y, %y transpose_a : tensor<4x8xf32>, tensor<4x8xf32>
    return %c, %s : tensor<8x8xf32>, tensor<4x1xf32>
  }

  // CHECK-LABEL: @stored_as_it_is
  // CHECK:         burin.group "rows" (%{{.*}}) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK:         burin.group "pack" (%{{.*}}) : (tensor<4x8xf32>) -> tensor<1x2x96xbf16> {
  func.func @stored_as_it_is(%x: tensor<4x8xf32> {burin.role = "input", burin.name = "x"})
      -> (tensor<8x8xf32> {burin.role = "output", burin.name = "c"}, tensor<4x8xf32> {burin.role = "output", burin.name = "y"}) attributes {burin.entry} {
    %y = burin.relu %x : tensor<4x8xf32>
    %c = burin.matmul %y, %y transpose_a : tensor<4x8xf32>, tensor<4x8xf32>
    return %c, %y : tensor<8x8xf32>, tensor<4x8xf32>
  }

  // A product that the backward part reads element by element is kept in bf16; the forward part has the sum itself.
  // CHECK-LABEL: @kept_for_backward
  // CHECK:         burin.group "contraction" {{.*}} -> (tensor<4x8xbf16>, tensor<4x8xf32>) {
  // CHECK:           %[[C:.+]] = burin.product
  // CHECK:           %[[Y:.+]] = burin.silu %[[C]]
  // CHECK:           burin.yield %[[C]], %[[Y]] : tensor<4x8xf32>, tensor<4x8xf32>
  func.func @kept_for_backward(%x: tensor<4x8xf32> {burin.role = "input", burin.name = "x"}, %w: tensor<8x8xf32> {burin.role = "input", burin.name = "w"})
      -> (tensor<4x8xf32> {burin.role = "output", burin.name = "y"}, tensor<4x8xf32> {burin.role = "gradient", burin.name = "g", burin.offset = 0 : i64}) attributes {burin.entry} {
    %c = burin.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
    %y = burin.silu %c : tensor<4x8xf32>
    %g = burin.sigmoid %c : tensor<4x8xf32>
    return %y, %g : tensor<4x8xf32>, tensor<4x8xf32>
  }

  // A gradient lies in bf16 where a bias's reads it beside products.
  // CHECK-LABEL: @summed_in_backward
  // CHECK:         burin.group "rows" (%{{.*}}) : (tensor<4x8xf32>) -> tensor<4x8xbf16> {
  // CHECK:         burin.group "columns" (%{{.*}}) : (tensor<4x8xbf16>) -> tensor<8xf32> {
  func.func @summed_in_backward(%x: tensor<4x8xf32> {burin.role = "input", burin.name = "x"}, %w: tensor<8x8xf32> {burin.role = "input", burin.name = "w"})
      -> (tensor<4x8xf32> {burin.role = "output", burin.name = "y"}, tensor<4x8xf32> {burin.role = "gradient", burin.name = "w", burin.offset = 0 : i64},
          tensor<8xf32> {burin.role = "gradient", burin.name = "b", burin.offset = 256 : i64}) attributes {burin.entry} {
    %y = burin.tanh %x : tensor<4x8xf32>
    %d = burin.exp %x : tensor<4x8xf32>
    %p = burin.matmul %d, %w : tensor<4x8xf32>, tensor<8x8xf32>
    %b = burin.reduce_sum %d over [0] : tensor<4x8xf32>
    return %y, %p, %b : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>
  }

  // Not where sums of its rows were taken, nor what is made of these: as in a softmax and a norm, one has to fit the other.
  // CHECK-LABEL: @kept_beside_its_sums
  // CHECK:         burin.group "contraction" {{.*}} -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x1xf32>) {
  func.func @kept_beside_its_sums(%x: tensor<4x8xf32> {burin.role = "input", burin.name = "x"}, %w: tensor<8x8xf32> {burin.role = "input", burin.name = "w"})
      -> (tensor<4x1xf32> {burin.role = "output", burin.name = "s"}, tensor<4x8xf32> {burin.role = "gradient", burin.name = "g", burin.offset = 0 : i64},
          tensor<4x8xf32> {burin.role = "gradient", burin.name = "h", burin.offset = 128 : i64}) attributes {burin.entry} {
    %c = burin.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
    %e = burin.exp %c : tensor<4x8xf32>
    %s = burin.reduce_sum %e over [1] keep_dims : tensor<4x8xf32>
    %d = burin.div %e, %s : tensor<4x8xf32>, tensor<4x1xf32>
    %r = burin.sqrt %s : tensor<4x1xf32>
    %g = burin.exp %c : tensor<4x8xf32>
    %h = burin.tanh %d : tensor<4x8xf32>
    return %r, %g, %h : tensor<4x1xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // Groups that are merged are waited for by all that waited for either: here, where the gradients of two norms share a gain, one of them once
  // seemed to come before what it reads.
  // CHECK-LABEL: @merged_groups_are_no_circle
  // CHECK:         burin.group "contraction"
  func.func @merged_groups_are_no_circle(%arg0: tensor<1x2x2xf32> {burin.name = "a", burin.offset = 0 : i64, burin.role = "parameter"}, %arg1: tensor<1x2x2xf32> {burin.name = "b", burin.offset = 64 : i64, burin.role = "parameter"}, %arg2: tensor<2xf32> {burin.name = "g", burin.offset = 128 : i64, burin.role = "parameter"}, %arg3: tensor<f32> {burin.name = "loss_scale", burin.role = "input"}, %arg4: tensor<f32> {burin.name = "accumulate", burin.role = "input"}, %arg5: tensor<1x2x2xf32> {burin.name = "a", burin.offset = 0 : i64, burin.role = "gradient"}, %arg6: tensor<1x2x2xf32> {burin.name = "b", burin.offset = 64 : i64, burin.role = "gradient"}, %arg7: tensor<2xf32> {burin.name = "g", burin.offset = 128 : i64, burin.role = "gradient"}) -> (tensor<f32> {burin.name = "loss", burin.role = "output"}, tensor<1x2x2xf32> {burin.name = "a", burin.offset = 0 : i64, burin.role = "gradient"}, tensor<1x2x2xf32> {burin.name = "b", burin.offset = 64 : i64, burin.role = "gradient"}, tensor<2xf32> {burin.name = "g", burin.offset = 128 : i64, burin.role = "gradient"}) attributes {burin.entry} {
    %0 = burin.constant 0.000000e+00 : tensor<f32>
    %1 = burin.greater_equal %0, %arg4 : tensor<f32>, tensor<f32>
    %2 = burin.greater_equal %arg4, %0 : tensor<f32>, tensor<f32>
    %3 = burin.mul %2, %1 : tensor<i32>, tensor<i32>
    %4 = burin.mul %arg0, %arg0 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
    %5 = burin.reduce_sum %4 over [2] keep_dims : tensor<1x2x2xf32>
    %6 = burin.scale %5 by 5.000000e-01 : tensor<1x2x1xf32>
    %7 = burin.constant 1.000000e-05 : tensor<f32>
    %8 = burin.add %6, %7 : tensor<1x2x1xf32>, tensor<f32>
    %9 = burin.rsqrt %8 : tensor<1x2x1xf32>
    %10 = burin.mul %arg0, %9 : tensor<1x2x2xf32>, tensor<1x2x1xf32>
    %11 = burin.mul %10, %arg2 : tensor<1x2x2xf32>, tensor<2xf32>
    %12 = burin.mul %arg1, %arg1 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
    %13 = burin.reduce_sum %12 over [2] keep_dims : tensor<1x2x2xf32>
    %14 = burin.scale %13 by 5.000000e-01 : tensor<1x2x1xf32>
    %15 = burin.add %14, %7 : tensor<1x2x1xf32>, tensor<f32>
    %16 = burin.rsqrt %15 : tensor<1x2x1xf32>
    %17 = burin.mul %arg1, %16 : tensor<1x2x2xf32>, tensor<1x2x1xf32>
    %18 = burin.mul %17, %arg2 : tensor<1x2x2xf32>, tensor<2xf32>
    %19 = burin.matmul %11, %18 transpose_b : tensor<1x2x2xf32>, tensor<1x2x2xf32>
    %20 = burin.reduce_sum %19 over [2] keep_dims : tensor<1x2x2xf32>
    %21 = burin.reduce_sum %20 over [0, 1] keep_dims : tensor<1x2x1xf32>
    %22 = burin.reshape %21 to [] : tensor<1x1x1xf32>
    %23 = burin.reshape %arg3 to [1, 1, 1] : tensor<f32>
    %24 = burin.constant 0.000000e+00 : tensor<1x2x2xf32>
    %25 = burin.add %24, %23 : tensor<1x2x2xf32>, tensor<1x1x1xf32>
    %26 = burin.mul %arg1, %16 : tensor<1x2x2xf32>, tensor<1x2x1xf32>
    %27 = burin.mul %26, %arg2 : tensor<1x2x2xf32>, tensor<2xf32>
    %28 = burin.matmul %25, %27 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
    %29 = burin.mul %arg0, %9 : tensor<1x2x2xf32>, tensor<1x2x1xf32>
    %30 = burin.mul %29, %arg2 : tensor<1x2x2xf32>, tensor<2xf32>
    %31 = burin.matmul %25, %30 transpose_a : tensor<1x2x2xf32>, tensor<1x2x2xf32>
    %32 = burin.mul %31, %arg2 : tensor<1x2x2xf32>, tensor<2xf32>
    %33 = burin.mul %32, %26 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
    %34 = burin.reduce_sum %33 over [2] keep_dims : tensor<1x2x2xf32>
    %35 = burin.scale %34 by 5.000000e-01 : tensor<1x2x1xf32>
    %36 = burin.mul %26, %35 : tensor<1x2x2xf32>, tensor<1x2x1xf32>
    %37 = burin.sub %32, %36 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
    %38 = burin.mul %16, %37 : tensor<1x2x1xf32>, tensor<1x2x2xf32>
    %39 = burin.mul %26, %31 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
    %40 = burin.reduce_sum %39 over [0, 1] keep_dims : tensor<1x2x2xf32>
    %41 = burin.reshape %40 to [2] : tensor<1x1x2xf32>
    %42 = burin.add %arg6, %38 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
    %43 = burin.where %3, %38, %42 : tensor<i32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>
    %44 = burin.add %arg7, %41 : tensor<2xf32>, tensor<2xf32>
    %45 = burin.where %3, %41, %44 : tensor<i32>, tensor<2xf32>, tensor<2xf32>
    %46 = burin.mul %28, %arg2 : tensor<1x2x2xf32>, tensor<2xf32>
    %47 = burin.mul %46, %29 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
    %48 = burin.reduce_sum %47 over [2] keep_dims : tensor<1x2x2xf32>
    %49 = burin.scale %48 by 5.000000e-01 : tensor<1x2x1xf32>
    %50 = burin.mul %29, %49 : tensor<1x2x2xf32>, tensor<1x2x1xf32>
    %51 = burin.sub %46, %50 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
    %52 = burin.mul %9, %51 : tensor<1x2x1xf32>, tensor<1x2x2xf32>
    %53 = burin.mul %29, %28 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
    %54 = burin.reduce_sum %53 over [0, 1] keep_dims : tensor<1x2x2xf32>
    %55 = burin.reshape %54 to [2] : tensor<1x1x2xf32>
    %56 = burin.add %arg5, %52 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
    %57 = burin.where %3, %52, %56 : tensor<i32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>
    %58 = burin.add %45, %55 : tensor<2xf32>, tensor<2xf32>
    return %22, %57, %43, %58 : tensor<f32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<2xf32>
  }
}
