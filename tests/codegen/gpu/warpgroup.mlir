// RUN: burin-opt %s --burin-gpu-specialise --burin-gpu-enter-kernels --burin-gpu-lower-contract --burin-gpu-lower-pack --canonicalize --cse --split-input-file | FileCheck %s

module attributes {burin.target = #burin.target<cpu = "sm_90a", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // Rows of b come two portions of 32 ahead; once one is there for all threads and seen by the asynchronous proxy, two products of 64 x 64 x 16 take it, with
  // a in registers, and are waited for.
  // CHECK-LABEL: func.func @product
  // CHECK-SAME:    burin.shared = 29696
  // CHECK:         nvvm.cp.async.shared.global
  // CHECK:         nvvm.cp.async.commit.group
  // CHECK:         scf.for
  // CHECK:           nvvm.cp.async.wait.group 1
  // CHECK-NEXT:      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  // CHECK-NEXT:      nvvm.barrier0
  // CHECK-COUNT-2:   nvvm.ldmatrix {{.*}}num = 4
  // CHECK:           llvm.inline_asm has_side_effects
  // CHECK-SAME:        wgmma.fence.sync.aligned
  // CHECK-SAME:        wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
  // CHECK-SAME:        wgmma.commit_group.sync.aligned
  // CHECK-SAME:        wgmma.wait_group.sync.aligned 0
  // CHECK-NOT:       nvvm.mma.sync
  // CHECK-NOT:     burin.contract
  func.func @product(%b: memref<8192xbf16>, %c: memref<4096xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 17408 : i64} {
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

// -----

module attributes {burin.target = #burin.target<cpu = "sm_90a", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // One portion of 64 takes no more staging than two of 32. Rows beyond the depth are zeros; 5 columns are one product of 8. Registers of sums hold nothing else.
  // CHECK-LABEL: func.func @rest
  // CHECK:         nvvm.cp.async.shared.global {{.*}} !llvm.ptr<3>, !llvm.ptr<1>, i32
  // CHECK-NOT:     scf.for
  // CHECK:         llvm.inline_asm
  // CHECK-SAME:      m64n8k16{{.*}}m64n8k16{{.*}}m64n8k16{{.*}}"=&f,=&f,=&f,=&f,0,1,2,3,r,r,r,r,r,r,r,r,r,r,r,r,l,l,l,~{memory}"
  func.func @rest(%b: memref<8192xbf16>, %c: memref<4096xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 6144 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %ta = memref.view %scratch[%zero][] : memref<?xi8> to memref<64x48xbf16>
      %pa = memref.subview %ta[0, 0] [33, 38] [1, 1] : memref<64x48xbf16> to memref<33x38xbf16, strided<[48, 1]>>
      %tb = memref.reinterpret_cast %b to offset: [0], sizes: [1, 19, 128], strides: [2432, 128, 1] : memref<8192xbf16> to memref<1x19x128xbf16>
      %tc = memref.reinterpret_cast %c to offset: [0], sizes: [33, 5], strides: [5, 1] : memref<4096xf32> to memref<33x5xf32>
      burin.contract %tc, %pa, %tb : memref<33x5xf32>, memref<33x38xbf16, strided<[48, 1]>>, memref<1x19x128xbf16>
    }
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "sm_90a", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // Two columns of a thread; the two rows of a pair lie 64 columns apart.
  // CHECK-LABEL: func.func @pack
  // CHECK:         %[[ROW:.+]] = llvm.getelementptr
  // CHECK:         llvm.store {{.*}} {alignment = 4 : i64} : vector<2xbf16>
  // CHECK:         llvm.getelementptr %{{.+}}[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, bf16
  // CHECK:         llvm.store {{.*}} {alignment = 4 : i64} : vector<2xbf16>
  // CHECK-NOT:     burin.pack
  func.func @pack(%x: memref<4096xf32>, %y: memref<4096xbf16>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %s = memref.reinterpret_cast %x to offset: [0], sizes: [64, 64], strides: [64, 1] : memref<4096xf32> to memref<64x64xf32>
      %t = memref.reinterpret_cast %y to offset: [0], sizes: [1, 32, 128], strides: [4096, 128, 1] : memref<4096xbf16> to memref<1x32x128xbf16>
      burin.pack %s, %t : memref<64x64xf32>, memref<1x32x128xbf16>
    }
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "sm_90a", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // For both: the kernel as it is for all, and a form for sm_90a beside it. Panels in scratch are pairs in both.
  // CHECK-LABEL: func.func @both
  // CHECK-NOT:     burin.variant_of
  // CHECK-NOT:     wgmma
  // CHECK:         nvvm.mma.sync
  // CHECK-LABEL: func.func @both_sm_90a
  // CHECK-SAME:    burin.variant_of = "both"
  // CHECK:         wgmma.mma_async
  // CHECK:         nvvm.mma.sync
  func.func @both(%a: memref<4096xf32>, %b: memref<4096xbf16>, %c: memref<4096xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 20480 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %behind = arith.constant 8192 : index
    scf.for %cell = %first to %last step %one {
      %ta = memref.view %scratch[%zero][] : memref<?xi8> to memref<64x64xbf16>
      %tb = memref.reinterpret_cast %b to offset: [0], sizes: [1, 32, 128], strides: [4096, 128, 1] : memref<4096xbf16> to memref<1x32x128xbf16>
      %own = memref.view %scratch[%behind][] : memref<?xi8> to memref<1x32x128xbf16>
      %s = memref.reinterpret_cast %a to offset: [0], sizes: [64, 64], strides: [64, 1] : memref<4096xf32> to memref<64x64xf32>
      %tc = memref.reinterpret_cast %c to offset: [0], sizes: [64, 64], strides: [64, 1] : memref<4096xf32> to memref<64x64xf32>
      burin.contract %tc, %ta, %tb : memref<64x64xf32>, memref<64x64xbf16>, memref<1x32x128xbf16>
      burin.pack %s, %own : memref<64x64xf32>, memref<1x32x128xbf16>
      burin.contract %tc, %ta, %own accumulate : memref<64x64xf32>, memref<64x64xbf16>, memref<1x32x128xbf16>
    }
    return
  }

  // Nothing would differ: no second form.
  // CHECK-LABEL: func.func @f32
  // CHECK-NOT:   func.func @f32_sm_90a
  func.func @f32(%x: memref<4096xf32>, %y: memref<4096xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %s = memref.reinterpret_cast %x to offset: [0], sizes: [64, 64], strides: [64, 1] : memref<4096xf32> to memref<64x64xf32>
      %t = memref.reinterpret_cast %y to offset: [0], sizes: [1, 64, 64], strides: [4096, 64, 1] : memref<4096xf32> to memref<1x64x64xf32>
      burin.pack %s, %t : memref<64x64xf32>, memref<1x64x64xf32>
    }
    return
  }
}
