// RUN: burin-opt %s --burin-gpu-enter-kernels --burin-gpu-lower-accesses --canonicalize --cse --split-input-file | FileCheck %s

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // All threads read what steers them; one writes it.
  // CHECK-LABEL: func.func @bound
  // CHECK:         %[[V:.+]] = llvm.load
  // CHECK:         %[[FIRST:.+]] = arith.cmpi ult, %{{.+}}, %c1_i64
  // CHECK:         scf.if %[[FIRST]]
  // CHECK:           llvm.store %[[V]]
  // CHECK-NOT:     memref
  func.func @bound(%x: memref<4xi32>, %y: memref<4xi32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    scf.for %cell = %first to %last step %one {
      %v = memref.load %x[%cell] : memref<4xi32>
      memref.store %v, %y[%cell] : memref<4xi32>
    }
    return
  }
}
