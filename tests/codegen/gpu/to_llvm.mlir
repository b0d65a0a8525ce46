// RUN: burin-opt %s --burin-gpu-to-llvm --canonicalize | FileCheck %s

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // A kernel becomes an LLVM function and keeps what a launch must know.
  // CHECK-LABEL: llvm.func @copy(%{{.+}}: !llvm.ptr<1>, %{{.+}}: i64, %{{.+}}: !llvm.ptr<1>)
  // CHECK-SAME:    burin.shared = 512 : i64, burin.threads = 128 : i64
  // CHECK:         nvvm.read.ptx.sreg.tid.x
  // CHECK:         llvm.intr.fma
  // CHECK:         llvm.return
  func.func @copy(%x: !llvm.ptr<1>, %cells: i64, %scratch: !llvm.ptr<1>) attributes {burin.kernel, burin.scratch = 0 : i64, burin.shared = 512 : i64, burin.threads = 128 : i64} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %at = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %at : !llvm.ptr<1> -> f32
    %w = math.fma %v, %v, %v : f32
    llvm.store %w, %at : f32, !llvm.ptr<1>
    return
  }

  // Entries are lists of launches and stay as they are.
  // CHECK-LABEL: func.func @step()
  // CHECK:         burin.launch @copy
  // CHECK:         return
  func.func @step() attributes {burin.entry} {
    burin.launch @copy cells 8 buffers [4] offsets [0] flops 0.0 bytes 64.0 what "copy"
    return
  }
}
