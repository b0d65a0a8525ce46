// RUN: burin-opt %s --burin-gpu-enter-kernels --burin-gpu-lower-contract --canonicalize --cse --split-input-file | FileCheck %s

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // In f32: a thread's sums are carried through the depth in order of k, four steps at a time where a's elements are adjacent; rows beyond the end read
  // the last one and are not written.
  // CHECK-LABEL: func.func @f32
  // CHECK:         scf.for {{.*}} step %c4_i32 iter_args
  // CHECK:           llvm.load %{{.+}} {alignment = 16 : i64}
  // CHECK:           math.fma
  // CHECK:           scf.yield
  // CHECK:         scf.if
  // CHECK:           llvm.store
  // CHECK-NOT:     burin.contract
  func.func @f32(%a: memref<2112xf32>, %b: memref<4096xf32>, %c: memref<2112xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %ta = memref.reinterpret_cast %a to offset: [0], sizes: [33, 64], strides: [64, 1] : memref<2112xf32> to memref<33x64xf32>
      %tb = memref.reinterpret_cast %b to offset: [0], sizes: [1, 64, 64], strides: [4096, 64, 1] : memref<4096xf32> to memref<1x64x64xf32>
      %tc = memref.reinterpret_cast %c to offset: [0], sizes: [33, 64], strides: [64, 1] : memref<2112xf32> to memref<33x64xf32>
      burin.contract %tc, %ta, %tb : memref<33x64xf32>, memref<33x64xf32>, memref<1x64x64xf32>
    }
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // In bf16: rows of panels stream through shared memory, two portions ahead; a comes by one instruction for 16 x 16.
  // CHECK-LABEL: func.func @bf16
  // CHECK:         nvvm.cp.async.shared.global
  // CHECK:         nvvm.cp.async.commit.group
  // CHECK:         scf.for
  // CHECK:           nvvm.cp.async.wait.group 1
  // CHECK-NEXT:      nvvm.barrier0
  // CHECK:           nvvm.cp.async.shared.global
  // CHECK:           nvvm.ldmatrix {{.*}}num = 4
  // CHECK:           nvvm.mma.sync {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
  // CHECK-NOT:     burin.contract
  func.func @bf16(%b: memref<8192xbf16>, %c: memref<4096xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 17408 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %ta = memref.view %scratch[%zero][] : memref<?xi8> to memref<64x136xbf16>
      %pa = memref.subview %ta[0, 0] [64, 128] [1, 1] : memref<64x136xbf16> to memref<64x128xbf16, strided<[136, 1]>>
      %tb = memref.reinterpret_cast %b to offset: [0], sizes: [1, 64, 128], strides: [8192, 128, 1] : memref<8192xbf16> to memref<1x64x128xbf16>
      %tc = memref.reinterpret_cast %c to offset: [0], sizes: [64, 64], strides: [64, 1] : memref<4096xf32> to memref<64x64xf32>
      burin.contract %tc, %pa, %tb accumulate : memref<64x64xf32>, memref<64x128xbf16, strided<[136, 1]>>, memref<1x64x128xbf16>
    }
    return
  }
}
