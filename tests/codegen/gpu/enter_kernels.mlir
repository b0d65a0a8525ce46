// RUN: burin-opt %s --burin-gpu-enter-kernels --canonicalize --cse --split-input-file | FileCheck %s

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // A launch gives pointers, the number of cells and the scratch of all blocks; block b takes the cells b, b + blocks, ...
  // CHECK:       llvm.mlir.global external @burin_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<0 x i8>
  // CHECK-LABEL: func.func @cells(
  // CHECK-SAME:    %[[X:.+]]: !llvm.ptr<1>, %[[CELLS:.+]]: i64, %{{.+}}: !llvm.ptr<1>)
  // CHECK-SAME:    burin.scratch = 0 : i64, burin.shared = 0 : i64, burin.threads = 128 : i64
  // CHECK:         %[[BLOCK:.+]] = arith.index_castui %{{.+}} : i32 to index
  // CHECK:         %[[BLOCKS:.+]] = arith.index_castui %{{.+}} : i32 to index
  // CHECK:         %[[LAST:.+]] = arith.index_castui %[[CELLS]] : i64 to index
  // CHECK:         scf.for %{{.+}} = %[[BLOCK]] to %[[LAST]] step %[[BLOCKS]]
  func.func @cells(%x: memref<4xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %a = memref.load %x[%cell] : memref<4xf32>
      memref.store %a, %x[%zero] : memref<4xf32>
    }
    return
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // Scratch that ends within 96 KB is shared by the block; what does not is the block's part of device memory.
  // CHECK-LABEL: func.func @scratch(
  // CHECK-SAME:    burin.scratch = 131328 : i64, burin.shared = 4096 : i64
  // CHECK:         %[[SHARED:.+]] = llvm.mlir.addressof @burin_shared : !llvm.ptr<3>
  // CHECK:         %[[OWN:.+]] = llvm.getelementptr %{{.+}}[%{{.+}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  // CHECK:         builtin.unrealized_conversion_cast %[[SHARED]] : !llvm.ptr<3> to memref<1024xf32> {burin.scratch = array<i64: 0, 4096>}
  // CHECK:         %[[FAR:.+]] = llvm.getelementptr %[[OWN]][4096]
  // CHECK:         builtin.unrealized_conversion_cast %[[FAR]] : !llvm.ptr<1> to memref<31800xf32>
  func.func @scratch(%x: memref<4xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 131296 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %near = arith.constant 0 : index
      %far = arith.constant 4096 : index
      %a = memref.view %scratch[%near][] : memref<?xi8> to memref<1024xf32>
      %b = memref.view %scratch[%far][] : memref<?xi8> to memref<31800xf32>
      %v = memref.load %a[%zero] : memref<1024xf32>
      memref.store %v, %b[%zero] : memref<31800xf32>
    }
    return
  }
}
