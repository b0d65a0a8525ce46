// RUN: burin-opt %s --burin-tile | FileCheck %s

// Two layers that do the same launch the same kernel, in another entry too; only where their tensors lie differs.
module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // CHECK-LABEL: func.func @twice()
  // CHECK-SAME:    burin.inputs = [{buffer = 5 : i64, dtype = "f32", name = "x", offset = 0 : i64, shape = array<i64: 8, 8>}]
  // CHECK:         burin.launch @[[K:.+]] cells {{.*}} buffers [5, 4] offsets [0, 0]
  // CHECK:         burin.launch @[[K]] cells {{.*}} buffers [4, 6] offsets [0, 0]
  // CHECK:         return
  // CHECK-LABEL: func.func @elsewhere()
  // CHECK:         burin.launch @[[K]] cells {{.*}} buffers [5, 6] offsets [64, 0]
  // CHECK:         return
  // CHECK:       func.func @[[K]](%{{.*}}: memref<64xf32>, %{{.*}}: memref<64xf32>, %{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<?xi8>)
  // CHECK:         scf.for
  // CHECK:           linalg.generic
  // CHECK:             math.exp
  // CHECK-NOT:   func.func
  func.func @twice(%x: tensor<8x8xf32> {burin.role = "input", burin.name = "x", burin.offset = 0 : i64})
      -> (tensor<8x8xf32> {burin.role = "output", burin.name = "y", burin.offset = 0 : i64}) attributes {burin.entry, burin.bytes = array<i64: 0, 0, 0, 0, 256, 256, 256>} {
    %a = burin.group "rows" (%x) {burin.buffers = array<i64: 5, 4>, burin.offsets = array<i64: 0, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32> {
    ^bb0(%i: tensor<8x8xf32>):
      %o = burin.exp %i : tensor<8x8xf32>
      burin.yield %o : tensor<8x8xf32>
    }
    %y = burin.group "rows" (%a) {burin.buffers = array<i64: 4, 6>, burin.offsets = array<i64: 0, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32> {
    ^bb0(%i: tensor<8x8xf32>):
      %o = burin.exp %i : tensor<8x8xf32>
      burin.yield %o : tensor<8x8xf32>
    }
    return %y : tensor<8x8xf32>
  }
  func.func @elsewhere(%i: tensor<3xi32> {burin.role = "input", burin.name = "i", burin.offset = 0 : i64},
                       %x: tensor<8x8xf32> {burin.role = "input", burin.name = "x", burin.offset = 64 : i64})
      -> (tensor<8x8xf32> {burin.role = "output", burin.name = "y", burin.offset = 0 : i64}) attributes {burin.entry, burin.bytes = array<i64: 0, 0, 0, 0, 0, 320, 256>} {
    %y = burin.group "rows" (%x) {burin.buffers = array<i64: 5, 6>, burin.offsets = array<i64: 64, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32> {
    ^bb0(%e: tensor<8x8xf32>):
      %o = burin.exp %e : tensor<8x8xf32>
      burin.yield %o : tensor<8x8xf32>
    }
    return %y : tensor<8x8xf32>
  }
}
