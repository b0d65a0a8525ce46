// RUN: burin-opt %s --burin-cpu-lower-nests --canonicalize --cse --split-input-file | FileCheck %s

module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // Rows that follow one another are one run: whole vectors, four at a time, then what is left of them, and one masked tail.
  // CHECK-LABEL:   @element_wise
  // CHECK:         scf.for %{{.+}} = %{{.+}} to %c128 step %c64
  // CHECK-COUNT-4:   vector.load
  // CHECK-NOT:       vector.load
  // CHECK-COUNT-4:   vector.store
  // CHECK:         vector.maskedload
  // CHECK:         vector.maskedstore
  // CHECK-NOT:     linalg.generic
  func.func @element_wise(%x: memref<155xf32>, %y: memref<155xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %a = memref.reinterpret_cast %x to offset: [%zero], sizes: [31, 5], strides: [5, 1] : memref<155xf32> to memref<31x5xf32, strided<[5, 1], offset: ?>>
      %b = memref.reinterpret_cast %y to offset: [%zero], sizes: [31, 5], strides: [5, 1] : memref<155xf32> to memref<31x5xf32, strided<[5, 1], offset: ?>>
      linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
          ins(%a : memref<31x5xf32, strided<[5, 1], offset: ?>>) outs(%b : memref<31x5xf32, strided<[5, 1], offset: ?>>) {
      ^bb0(%i: f32, %o: f32):
        %r = arith.mulf %i, %i : f32
        linalg.yield %r : f32
      }
    }
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // A sum down the rows is carried in registers through them: loaded before, stored after, nothing in between.
  // CHECK-LABEL: @sum_of_rows
  // CHECK:       scf.for
  // CHECK:         %[[BEFORE:.+]] = vector.load %arg1
  // CHECK:         %[[SUM:.+]] = scf.for {{.*}} iter_args(%[[CARRIED:.+]] = %[[BEFORE]]) -> (vector<16xf32>)
  // CHECK:           %[[ROW:.+]] = vector.load %arg0
  // CHECK:           %[[NEXT:.+]] = arith.addf %[[CARRIED]], %[[ROW]]
  // CHECK:           scf.yield %[[NEXT]]
  // CHECK:         vector.store %[[SUM]], %arg1
  func.func @sum_of_rows(%x: memref<144xf32>, %y: memref<16xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %a = memref.reinterpret_cast %x to offset: [%zero], sizes: [9, 16], strides: [16, 1] : memref<144xf32> to memref<9x16xf32, strided<[16, 1], offset: ?>>
      linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]}
          ins(%a : memref<9x16xf32, strided<[16, 1], offset: ?>>) outs(%y : memref<16xf32>) {
      ^bb0(%i: f32, %o: f32):
        %r = arith.addf %o, %i : f32
        linalg.yield %r : f32
      }
    }
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // A sum along the lanes starts from zero in four vectors and joins them once, halves onto halves; then what was there before.
  // CHECK-LABEL: @sum_of_a_row
  // CHECK:       %[[SUMS:.+]]:4 = scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
  // CHECK-COUNT-3: arith.addf %{{.+}} : vector<16xf32>
  // CHECK:       arith.addf %{{.+}} : vector<8xf32>
  // CHECK:       arith.addf %{{.+}} : vector<4xf32>
  // CHECK:       arith.addf %{{.+}} : vector<2xf32>
  // CHECK:       arith.addf %{{.+}} : f32
  // CHECK:       memref.store
  func.func @sum_of_a_row(%x: memref<256xf32>, %y: memref<1xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %s = memref.reinterpret_cast %y to offset: [%zero], sizes: [], strides: [] : memref<1xf32> to memref<f32, strided<[], offset: ?>>
      linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
          ins(%x : memref<256xf32>) outs(%s : memref<f32, strided<[], offset: ?>>) {
      ^bb0(%i: f32, %o: f32):
        %r = arith.addf %o, %i : f32
        linalg.yield %r : f32
      }
    }
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // A result that is no fold of its elements is computed one element after the other.
  // CHECK-LABEL: @recurrence
  // CHECK-NOT:   vector<
  // CHECK:       scf.for {{.*}} -> (f32)
  // CHECK-NOT:   vector<
  func.func @recurrence(%x: memref<256xf32>, %y: memref<1xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %s = memref.reinterpret_cast %y to offset: [%zero], sizes: [], strides: [] : memref<1xf32> to memref<f32, strided<[], offset: ?>>
      linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
          ins(%x : memref<256xf32>) outs(%s : memref<f32, strided<[], offset: ?>>) {
      ^bb0(%i: f32, %o: f32):
        %r = arith.subf %i, %o : f32
        linalg.yield %r : f32
      }
    }
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // Contiguous the other way round: squares of 16 rows and columns, transposed by shuffles between loads and stores of vectors.
  // CHECK-LABEL:    @transposed
  // CHECK:          scf.for %{{.+}} = %{{.+}} to %c32
  // CHECK-COUNT-16:   vector.load
  // CHECK-COUNT-64:   vector.shuffle
  // CHECK-COUNT-16:   vector.store
  // CHECK-NOT:      memref.load
  func.func @transposed(%x: memref<512xf32>, %y: memref<512xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %a = memref.reinterpret_cast %x to offset: [%zero], sizes: [32, 16], strides: [1, 32] : memref<512xf32> to memref<32x16xf32, strided<[1, 32], offset: ?>>
      %b = memref.reinterpret_cast %y to offset: [%zero], sizes: [32, 16], strides: [16, 1] : memref<512xf32> to memref<32x16xf32, strided<[16, 1], offset: ?>>
      linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
          ins(%a : memref<32x16xf32, strided<[1, 32], offset: ?>>) outs(%b : memref<32x16xf32, strided<[16, 1], offset: ?>>) {
      ^bb0(%i: f32, %o: f32):
        linalg.yield %i : f32
      }
    }
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // What is no kernel is left alone.
  // CHECK-LABEL: @not_a_kernel
  // CHECK:       linalg.generic
  func.func @not_a_kernel(%x: memref<256xf32>) {
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%x : memref<256xf32>) {
    ^bb0(%o: f32):
      linalg.yield %o : f32
    }
    return
  }
}
