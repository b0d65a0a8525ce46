// RUN: burin-opt %s --burin-cpu-expand-math --split-input-file | FileCheck %s

module attributes {burin.target = #burin.target<cpu = "x86-64-v4", features = "", lanes = 16, registers = 32, l1 = 32768, l2 = 1048576>} {
  // exp is a polynomial without a call, for scalars and vectors, a full vector's power of two one instruction; a root is one too; cos
  // in double precision stays a call.
  // CHECK-LABEL: @functions
  // CHECK-NOT:   math.exp
  // CHECK:       math.fma %{{.+}} : vector<16xf32>
  // CHECK:       scalef.ps.512
  // CHECK:       math.fma %{{.+}} : f32
  // CHECK:       math.sqrt
  // CHECK:       arith.divf
  // CHECK:       math.cos
  func.func @functions(%x: vector<16xf32>, %y: f32, %z: f64) -> (vector<16xf32>, f32, f32, f64) attributes {burin.kernel, burin.scratch = 0 : i64} {
    %a = math.exp %x : vector<16xf32>
    %b = math.exp %y : f32
    %c = math.rsqrt %y : f32
    %d = math.cos %z : f64
    return %a, %b, %c, %d : vector<16xf32>, f32, f32, f64
  }
}

// -----

module attributes {burin.target = #burin.target<cpu = "x86-64", features = "", lanes = 4, registers = 16, l1 = 32768, l2 = 524288>} {
  // CHECK-LABEL: @no_fma
  // CHECK-NOT:   math.fma
  // CHECK:       arith.mulf
  // CHECK:       arith.addf
  func.func @no_fma(%x: vector<4xf32>) -> vector<4xf32> attributes {burin.kernel, burin.scratch = 0 : i64} {
    %a = math.fma %x, %x, %x : vector<4xf32>
    return %a : vector<4xf32>
  }
}
