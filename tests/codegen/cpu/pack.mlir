// RUN: burin-opt %s --burin-cpu-lower-pack --canonicalize --cse --split-input-file | FileCheck %s

module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // Rows that lie as the panel wants them are copied.
  // CHECK-LABEL:   @rows
  // CHECK:         scf.for
  // CHECK:           %[[ROW:.+]] = vector.load %arg0
  // CHECK-NEXT:      vector.store %[[ROW]], %arg1
  // CHECK-COUNT-2:   vector.load %arg0
  // CHECK-NOT:     vector.shuffle
  // CHECK-NOT:     burin.pack
  func.func @rows(%x: memref<768xf32>, %y: memref<768xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %s = memref.reinterpret_cast %x to offset: [0], sizes: [16, 48], strides: [48, 1] : memref<768xf32> to memref<16x48xf32>
    %p = memref.reinterpret_cast %y to offset: [0], sizes: [1, 16, 48], strides: [768, 48, 1] : memref<768xf32> to memref<1x16x48xf32>
    burin.pack %s, %p : memref<16x48xf32>, memref<1x16x48xf32>
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // A source that is contiguous along the depth goes through squares; columns beyond it are zeros.
  // CHECK-LABEL:    @transposed
  // CHECK:          %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : vector<16xf32>
  // CHECK:          scf.for
  // CHECK-COUNT-5:    vector.load %arg0
  // CHECK-NOT:        vector.load
  // CHECK:            vector.shuffle
  // CHECK:            vector.store %[[ZERO]], %arg1
  func.func @transposed(%x: memref<160xf32>, %y: memref<1024xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %s = memref.reinterpret_cast %x to offset: [0], sizes: [32, 5], strides: [1, 32] : memref<160xf32> to memref<32x5xf32, strided<[1, 32]>>
    %p = memref.reinterpret_cast %y to offset: [0], sizes: [1, 32, 32], strides: [1024, 32, 1] : memref<1024xf32> to memref<1x32x32xf32>
    burin.pack %s, %p : memref<32x5xf32, strided<[1, 32]>>, memref<1x32x32xf32>
    return
  }
}
