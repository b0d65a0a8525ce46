// RUN: burin-opt %s --burin-gpu-enter-kernels --burin-gpu-synchronise --split-input-file | FileCheck %s

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  func.func @entry() attributes {burin.entry} {
    burin.launch @between cells 1 buffers [0, 4] offsets [0, 0] flops 0.0 bytes 0.0 what "copy"
    return
  }
  // What is read next to what was written waits for it; what touches other bytes does not. A turn of the loop over cells waits for the turn before.
  // CHECK-LABEL: func.func @between
  // CHECK:         scf.for
  // CHECK:           nvvm.barrier0
  // CHECK-NEXT:      linalg.generic
  // CHECK-NOT:       nvvm.barrier0
  // CHECK:           linalg.generic
  // CHECK:           nvvm.barrier0
  // CHECK-NEXT:      linalg.generic
  // CHECK-NOT:       nvvm.barrier0
  // CHECK:         return
  func.func @between(%x: memref<256xf32>, %y: memref<256xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 2048 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %p = arith.constant 0 : index
      %q = arith.constant 1024 : index
      %a = memref.view %scratch[%p][] : memref<?xi8> to memref<256xf32>
      %b = memref.view %scratch[%q][] : memref<?xi8> to memref<256xf32>
      linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          ins(%x : memref<256xf32>) outs(%a : memref<256xf32>) {
      ^bb0(%i: f32, %o: f32):
        linalg.yield %i : f32
      }
      linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          ins(%x : memref<256xf32>) outs(%b : memref<256xf32>) {
      ^bb0(%i: f32, %o: f32):
        linalg.yield %i : f32
      }
      linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          ins(%a : memref<256xf32>) outs(%y : memref<256xf32>) {
      ^bb0(%i: f32, %o: f32):
        linalg.yield %i : f32
      }
    }
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // A bound that steers the block is read by all before it is written again, in each turn of an inner loop too.
  // CHECK-LABEL: func.func @steering
  // CHECK:         scf.for
  // CHECK:           scf.for
  // CHECK:             nvvm.barrier0
  // CHECK-NEXT:        memref.store
  // CHECK:             nvvm.barrier0
  // CHECK-NEXT:        memref.load
  // CHECK:             scf.if
  // CHECK-NOT:           nvvm.barrier0
  // CHECK:         return
  func.func @steering(%x: memref<256xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 64 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %p = arith.constant 0 : index
      %four = arith.constant 4 : index
      %seven = arith.constant 7 : i32
      %bound = memref.view %scratch[%p][] : memref<?xi8> to memref<i32>
      scf.for %i = %zero to %four step %one {
        memref.store %seven, %bound[] : memref<i32>
        %v = memref.load %bound[] : memref<i32>
        %less = arith.cmpi slt, %v, %seven : i32
        scf.if %less {
          %w = memref.load %x[%i] : memref<256xf32>
        }
      }
    }
    return
  }
}
