// RUN: burin-opt %s --burin-group --burin-plan --burin-tile --split-input-file | FileCheck %s

// A value that lies in bf16 is rounded where it is written; a product reads it where it lies, whole pairs side by side.
module attributes {burin.dtype = "bf16", burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // CHECK-LABEL: func.func @even()
  // CHECK:       func.func @relu_0(%{{.*}}: memref<24xf32>, %{{.*}}: memref<24xbf16>,
  // CHECK:         arith.truncf %{{.*}} : f32 to bf16
  // CHECK-NEXT:    linalg.yield
  // CHECK:       func.func @matmul_2(%[[X:.+]]: memref<24xbf16>, %{{.*}}: memref<288xbf16>, %{{.*}}: memref<32xf32>,
  // CHECK:         %[[A:.+]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [4, 6]
  // CHECK-NOT:     linalg.generic
  // CHECK:         burin.contract %{{.*}}, %[[A]], %{{.*}}
  func.func @even(%x: tensor<4x6xf32> {burin.role = "input", burin.name = "x"}, %w: tensor<6x8xf32> {burin.role = "input", burin.name = "w"})
      -> (tensor<4x8xf32> {burin.role = "output", burin.name = "c"}) attributes {burin.entry} {
    %y = burin.relu %x : tensor<4x6xf32>
    %c = burin.matmul %y, %w : tensor<4x6xf32>, tensor<6x8xf32>
    return %c : tensor<4x8xf32>
  }
}

// -----

// Rows that do not end with a pair are copied, and completed by a zero.
module attributes {burin.dtype = "bf16", burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // CHECK-LABEL: func.func @odd()
  // CHECK:       func.func @matmul_2(%[[X:.+]]: memref<20xbf16>,
  // CHECK:         %[[FROM:.+]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [4, 5]
  // CHECK:         %[[PAIRS:.+]] = memref.subview %{{.*}}[0, 0] [4, 6] [1, 1]
  // CHECK:         linalg.generic {{.*}} ins(%[[FROM]] : memref<4x5xbf16
  // CHECK-NEXT:    ^bb0(%[[IN:.+]]: bf16, %{{.*}}: bf16):
  // CHECK-NEXT:      linalg.yield %[[IN]] : bf16
  // CHECK:         burin.contract %{{.*}}, %[[PAIRS]], %{{.*}}
  func.func @odd(%x: tensor<4x5xf32> {burin.role = "input", burin.name = "x"}, %w: tensor<5x8xf32> {burin.role = "input", burin.name = "w"})
      -> (tensor<4x8xf32> {burin.role = "output", burin.name = "c"}) attributes {burin.entry} {
    %y = burin.relu %x : tensor<4x5xf32>
    %c = burin.matmul %y, %w : tensor<4x5xf32>, tensor<5x8xf32>
    return %c : tensor<4x8xf32>
  }
}
