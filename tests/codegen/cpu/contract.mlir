// RUN: burin-opt %s --burin-cpu-lower-contract --canonicalize --cse --split-input-file | FileCheck %s

module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // With 16 lanes and 32 registers a block is 8 rows by 3 vectors: 24 sums carried through the depth, each row of b used for all of them. The block of c and a share of
  // the next panel are fetched meanwhile: 8 blocks of 128 turns share 256 rows of three lines, one line a turn.
  // CHECK-LABEL:    @packed
  // CHECK:          scf.for %{{.+}} = %{{.+}} to %c2
  // CHECK:            scf.for %{{.+}} = %{{.+}} to %c64 step %c8
  // CHECK-COUNT-24:     memref.prefetch %arg0[%{{.+}}], write
  // CHECK-NOT:          memref.prefetch
  // CHECK:              %[[SUMS:.+]]:24 = scf.for
  // CHECK-COUNT-1:        memref.prefetch %arg2[%{{.+}}], read
  // CHECK-NOT:            memref.prefetch
  // CHECK-COUNT-3:        vector.load %arg2
  // CHECK:                memref.load %arg1
  // CHECK:                vector.broadcast
  // CHECK-COUNT-3:        math.fma
  // CHECK:              vector.store %[[SUMS]]#0, %arg0
  // CHECK:              vector.store %[[SUMS]]#23, %arg0
  // CHECK-NOT:      burin.contract
  func.func @packed(%c: memref<6144xf32>, %a: memref<16384xf32>, %b: memref<24576xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %ct = memref.reinterpret_cast %c to offset: [0], sizes: [64, 96], strides: [96, 1] : memref<6144xf32> to memref<64x96xf32>
    %at = memref.reinterpret_cast %a to offset: [0], sizes: [64, 256], strides: [256, 1] : memref<16384xf32> to memref<64x256xf32>
    %bt = memref.reinterpret_cast %b to offset: [0], sizes: [2, 256, 48], strides: [12288, 48, 1] : memref<24576xf32> to memref<2x256x48xf32>
    burin.contract %ct, %at, %bt : memref<64x96xf32>, memref<64x256xf32>, memref<2x256x48xf32>
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // What lies ahead is shared out among the blocks: 2 panels of 2 blocks fetch 256 rows, 64 of them each, one a turn; the other 64 turns are a loop of their own. A row of 20
  // elements that need not start with a line may touch three lines.
  // CHECK-LABEL:    @ahead
  // CHECK:          %[[FIRST:.+]]:24 = scf.for %{{.+}} = %c0{{.*}} to %c128{{.*}} step %c2
  // CHECK-COUNT-3:    memref.prefetch %arg3[%{{.+}}], read
  // CHECK-NOT:        memref.prefetch %arg3
  // CHECK:          scf.for %{{.+}} = %c0{{.*}} to %c128{{.*}} step %c2{{.*}} iter_args(%{{.+}} = %[[FIRST]]#0
  // CHECK-NOT:        memref.prefetch %arg3
  // CHECK:            scf.yield
  func.func @ahead(%c: memref<1536xf32>, %a: memref<4096xf32>, %b: memref<24576xf32>, %n: memref<5632xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %ct = memref.reinterpret_cast %c to offset: [0], sizes: [16, 96], strides: [96, 1] : memref<1536xf32> to memref<16x96xf32>
    %at = memref.reinterpret_cast %a to offset: [0], sizes: [16, 256], strides: [256, 1] : memref<4096xf32> to memref<16x256xf32>
    %bt = memref.reinterpret_cast %b to offset: [0], sizes: [2, 256, 48], strides: [12288, 48, 1] : memref<24576xf32> to memref<2x256x48xf32>
    %nt = memref.reinterpret_cast %n to offset: [0], sizes: [256, 20], strides: [22, 1] : memref<5632xf32> to memref<256x20xf32, strided<[22, 1]>>
    burin.contract %ct, %at, %bt ahead %nt : memref<16x96xf32>, memref<16x256xf32>, memref<2x256x48xf32>, memref<256x20xf32, strided<[22, 1]>>
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // Adding to c: fetched while the products are made, added last. Five rows are one block, and column 16 ends in a mask.
  // CHECK-LABEL: @accumulated
  // CHECK:       memref.prefetch %arg0
  // CHECK:       %[[SUMS:.+]]:10 = scf.for
  // CHECK:         vector.maskedload %arg2
  // CHECK:       %[[C:.+]] = vector.load %arg0
  // CHECK:       %[[SUM:.+]] = arith.addf %[[C]], %[[SUMS]]#0
  // CHECK:       vector.store %[[SUM]], %arg0
  // CHECK:       vector.maskedload %arg0
  // CHECK:       vector.maskedstore %arg0
  func.func @accumulated(%c: memref<85xf32>, %a: memref<40xf32>, %b: memref<136xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %ct = memref.reinterpret_cast %c to offset: [0], sizes: [5, 17], strides: [17, 1] : memref<85xf32> to memref<5x17xf32>
    %at = memref.reinterpret_cast %a to offset: [0], sizes: [5, 8], strides: [1, 5] : memref<40xf32> to memref<5x8xf32, strided<[1, 5]>>
    %bt = memref.reinterpret_cast %b to offset: [0], sizes: [8, 17], strides: [17, 1] : memref<136xf32> to memref<8x17xf32>
    burin.contract %ct, %at, %bt accumulate : memref<5x17xf32>, memref<5x8xf32, strided<[1, 5]>>, memref<8x17xf32>
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "x86-64", features = "", lanes = 4, registers = 16, l1 = 32768, l2 = 524288>} {
  // A machine without multiply-add multiplies, then adds.
  // CHECK-LABEL: @no_fma
  // CHECK-NOT:   math.fma
  // CHECK:       arith.mulf
  // CHECK:       arith.addf
  // CHECK-NOT:   math.fma
  func.func @no_fma(%c: memref<16xf32>, %a: memref<16xf32>, %b: memref<16xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %ct = memref.reinterpret_cast %c to offset: [0], sizes: [4, 4], strides: [4, 1] : memref<16xf32> to memref<4x4xf32>
    %at = memref.reinterpret_cast %a to offset: [0], sizes: [4, 4], strides: [4, 1] : memref<16xf32> to memref<4x4xf32>
    %bt = memref.reinterpret_cast %b to offset: [0], sizes: [4, 4], strides: [4, 1] : memref<16xf32> to memref<4x4xf32>
    burin.contract %ct, %at, %bt : memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>
    return
  }
}
