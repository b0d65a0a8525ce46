// RUN: burin-opt %s --burin-gpu-enter-kernels --burin-gpu-lower-pack --canonicalize --cse --split-input-file | FileCheck %s

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // Rows of the source in rows of a panel, zeros beyond its last column.
  // CHECK-LABEL: func.func @rows
  // CHECK:         %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
  // CHECK:         scf.for
  // CHECK:           %[[V:.+]] = scf.if
  // CHECK:             llvm.load
  // CHECK:           } else {
  // CHECK:             scf.yield %[[ZERO]]
  // CHECK:           llvm.store %[[V]]
  // CHECK-NOT:     burin.pack
  func.func @rows(%x: memref<150xf32>, %y: memref<320xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %s = memref.reinterpret_cast %x to offset: [0], sizes: [5, 30], strides: [30, 1] : memref<150xf32> to memref<5x30xf32>
      %t = memref.reinterpret_cast %y to offset: [0], sizes: [1, 5, 64], strides: [320, 64, 1] : memref<320xf32> to memref<1x5x64xf32>
      burin.pack %s, %t : memref<5x30xf32>, memref<1x5x64xf32>
    }
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // A transposed source is read four elements of the depth at a time; in bf16 they are two pairs.
  // CHECK-LABEL: func.func @pairs
  // CHECK:         llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  // CHECK-NOT:     llvm.load
  // CHECK-COUNT-4: arith.truncf %{{.+}} : f32 to bf16
  // CHECK-NOT:     burin.pack
  func.func @pairs(%x: memref<4096xf32>, %y: memref<4096xbf16>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %s = memref.reinterpret_cast %x to offset: [0], sizes: [64, 64], strides: [1, 64] : memref<4096xf32> to memref<64x64xf32, strided<[1, 64]>>
      %t = memref.reinterpret_cast %y to offset: [0], sizes: [1, 32, 128], strides: [4096, 128, 1] : memref<4096xbf16> to memref<1x32x128xbf16>
      burin.pack %s, %t : memref<64x64xf32, strided<[1, 64]>>, memref<1x32x128xbf16>
    }
    return
  }
}
