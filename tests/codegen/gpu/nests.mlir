// RUN: burin-opt %s --burin-gpu-enter-kernels --burin-gpu-lower-nests --canonicalize --cse --split-input-file | FileCheck %s

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // Neighbours go to neighbouring threads, four at a time where all of memory allows it: one access of 16 bytes.
  // CHECK-LABEL: func.func @wide
  // CHECK:         scf.for %[[TURN:.+]] = %c0_i32 to %c8_i32 step %c1_i32
  // CHECK:           %[[SKIPPED:.+]] = arith.muli %[[TURN]], %c128_i32
  // CHECK:           %[[T:.+]] = nvvm.read.ptx.sreg.tid.x
  // CHECK:           %[[I:.+]] = arith.addi %[[T]], %[[SKIPPED]]
  // CHECK:           arith.muli %[[I]], %c4_i32
  // CHECK:           llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  // CHECK-COUNT-4:   arith.mulf
  // CHECK:           llvm.store %{{.+}} {alignment = 16 : i64} : vector<4xf32>
  // CHECK-NOT:     linalg.generic
  func.func @wide(%x: memref<4096xf32>, %y: memref<4096xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          ins(%x : memref<4096xf32>) outs(%y : memref<4096xf32>) {
      ^bb0(%i: f32, %o: f32):
        %r = arith.mulf %i, %i : f32
        linalg.yield %r : f32
      }
    }
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // Fewer elements than threads: a branch and no loop.
  // CHECK-LABEL: func.func @narrow
  // CHECK:         %[[T:.+]] = nvvm.read.ptx.sreg.tid.x
  // CHECK:         %[[IN:.+]] = arith.cmpi ult, %[[T]], %c13_i32
  // CHECK:         scf.if %[[IN]]
  // CHECK:           llvm.load
  // CHECK:           llvm.store
  func.func @narrow(%x: memref<13xf32>, %y: memref<13xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          ins(%x : memref<13xf32>) outs(%y : memref<13xf32>) {
      ^bb0(%i: f32, %o: f32):
        linalg.yield %i : f32
      }
    }
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // A sum along contiguous memory: the lanes of a warp, joined by shuffles; lane 0 adds what was there before.
  // CHECK-LABEL:   func.func @rows
  // CHECK:         %[[SUM:.+]] = scf.for {{.*}} step %c32_i32 iter_args
  // CHECK-COUNT-5: nvvm.shfl.sync bfly
  // CHECK-NOT:     nvvm.shfl.sync
  // CHECK:         scf.if
  // CHECK:           %[[BEFORE:.+]] = llvm.load
  // CHECK:           %[[ALL:.+]] = arith.addf %[[BEFORE]]
  // CHECK:           llvm.store %[[ALL]]
  func.func @rows(%x: memref<256xf32>, %y: memref<4xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %t = memref.reinterpret_cast %x to offset: [0], sizes: [4, 64], strides: [64, 1] : memref<256xf32> to memref<4x64xf32>
      linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
          ins(%t : memref<4x64xf32>) outs(%y : memref<4xf32>) {
      ^bb0(%i: f32, %o: f32):
        %r = arith.addf %o, %i : f32
        linalg.yield %r : f32
      }
    }
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // A sum across contiguous memory: several threads for each result, joined in staging in order.
  // CHECK-LABEL: func.func @columns
  // CHECK-SAME:    burin.shared = 512 : i64
  // CHECK:         scf.for {{.*}} step %c4_i32 iter_args
  // CHECK:         llvm.store %{{.+}}, %{{.+}} : f32, !llvm.ptr<3>
  // CHECK:         nvvm.barrier0
  // CHECK:         scf.if
  // CHECK-COUNT-4:   llvm.load %{{.+}} : !llvm.ptr<3> -> f32
  func.func @columns(%x: memref<2048xf32>, %y: memref<32xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %t = memref.reinterpret_cast %x to offset: [0], sizes: [64, 32], strides: [32, 1] : memref<2048xf32> to memref<64x32xf32>
      linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]}
          ins(%t : memref<64x32xf32>) outs(%y : memref<32xf32>) {
      ^bb0(%i: f32, %o: f32):
        %r = arith.addf %o, %i : f32
        linalg.yield %r : f32
      }
    }
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // One thread computes both of a pair that swaps lanes: it reads both before it writes one, also in place.
  // CHECK-LABEL: func.func @pairs
  // CHECK:         %[[A:.+]] = llvm.load
  // CHECK:         %[[B:.+]] = llvm.load
  // CHECK:         arith.subf %[[A]], %[[B]]
  // CHECK:         arith.subf %[[B]], %[[A]]
  // CHECK:         llvm.store
  // CHECK:         llvm.store
  func.func @pairs(%x: memref<64xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          outs(%x : memref<64xf32>) {
      ^bb0(%o: f32):
        %s = burin.swap_lanes %o : f32
        %r = arith.subf %o, %s : f32
        linalg.yield %r : f32
      }
    }
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // Results that lack different loops: one thread, in order.
  // CHECK-LABEL: func.func @crossing
  // CHECK:         %[[FIRST:.+]] = arith.cmpi ult, %{{.+}}, %c1_i32
  // CHECK:         scf.if %[[FIRST]]
  // CHECK:           scf.for
  // CHECK:             scf.for
  // CHECK-NOT:     nvvm.shfl.sync
  func.func @crossing(%x: memref<35xf32>, %y: memref<5xf32>, %z: memref<7xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %t = memref.reinterpret_cast %x to offset: [0], sizes: [5, 7], strides: [7, 1] : memref<35xf32> to memref<5x7xf32>
      linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "reduction"]}
          ins(%t : memref<5x7xf32>) outs(%y, %z : memref<5xf32>, memref<7xf32>) {
      ^bb0(%i: f32, %o: f32, %p: f32):
        %r = arith.addf %o, %i : f32
        %q = arith.addf %p, %i : f32
        linalg.yield %r, %q : f32, f32
      }
    }
    return
  }
}
