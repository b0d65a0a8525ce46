// RUN: burin-opt %s --burin-cpu-to-llvm --canonicalize | FileCheck %s

module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // A kernel takes buffers, args, first, last and scratch; tensor i is buffers[args[2 i]] plus args[2 i + 1] bytes.
  // CHECK-LABEL: llvm.func internal @copy(
  // CHECK-SAME:    %[[BUFFERS:.+]]: !llvm.ptr, %[[ARGS:.+]]: !llvm.ptr, %{{.+}}: i64, %{{.+}}: i64, %{{.+}}: !llvm.ptr)
  // CHECK-SAME:    burin.kernel
  // CHECK:       %[[BUFFER:.+]] = llvm.load %[[ARGS]] : !llvm.ptr -> i64
  // CHECK:       %[[SLOT:.+]] = llvm.getelementptr %[[BUFFERS]][%[[BUFFER]]]
  // CHECK:       %[[BASE:.+]] = llvm.load %[[SLOT]] : !llvm.ptr -> !llvm.ptr
  // CHECK:       %[[AT:.+]] = llvm.getelementptr %[[ARGS]][1]
  // CHECK:       %[[OFFSET:.+]] = llvm.load %[[AT]]
  // CHECK:       llvm.getelementptr %[[BASE]][%[[OFFSET]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  func.func @copy(%x: memref<8xf32>, %y: memref<8xf32>, %first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %e = memref.load %x[%first] : memref<8xf32>
    memref.store %e, %y[%first] : memref<8xf32>
    return
  }

  // Entries are lists of launches and stay as they are.
  // CHECK-LABEL: func.func @step()
  // CHECK:         burin.launch @copy
  // CHECK:         return
  func.func @step() attributes {burin.entry} {
    burin.launch @copy cells 8 buffers [4, 4] offsets [0, 64] flops 0.0 bytes 64.0 what "copy"
    return
  }
}
