// RUN: burin-opt %s --burin-cpu-flatten-accesses --canonicalize --cse | FileCheck %s

module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // An element of a part of a tile becomes an element of the buffer: 3 + 10 (i + 1) + 2 (j + 2).
  // CHECK-LABEL: @accesses(
  // CHECK-SAME:    %[[BUFFER:.+]]: memref<100xi32>, %{{.+}}: memref<1xi32>, %[[I:.+]]: index, %[[J:.+]]: index
  // CHECK-DAG:   %[[ROW:.+]] = arith.muli %[[I]], %c10
  // CHECK-DAG:   %[[COLUMN:.+]] = arith.muli %[[J]], %c2
  // CHECK:       memref.load %[[BUFFER]][%{{.+}}] : memref<100xi32>
  // CHECK-NOT:   memref.subview
  // CHECK-NOT:   memref.reinterpret_cast
  func.func @accesses(%x: memref<100xi32>, %y: memref<1xi32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %zero = arith.constant 0 : index
    %t = memref.reinterpret_cast %x to offset: [3], sizes: [5, 6], strides: [10, 2] : memref<100xi32> to memref<5x6xi32, strided<[10, 2], offset: 3>>
    %p = memref.subview %t[1, 2] [3, 3] [1, 1] : memref<5x6xi32, strided<[10, 2], offset: 3>> to memref<3x3xi32, strided<[10, 2], offset: 17>>
    %e = memref.load %p[%first, %last] : memref<3x3xi32, strided<[10, 2], offset: 17>>
    memref.store %e, %y[%zero] : memref<1xi32>
    return
  }
}
