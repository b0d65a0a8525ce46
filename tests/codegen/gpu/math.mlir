// RUN: burin-opt %s --burin-gpu-expand-math --split-input-file | FileCheck %s

module attributes {burin.target = #burin.target<cpu = "sm_80", features = "", lanes = 32, registers = 16, l1 = 32768, l2 = 131072, cells = 128>} {
  // What a device has no instruction for becomes arithmetic; square roots and multiply-adds stay.
  // CHECK-LABEL: func.func @functions
  // CHECK-NOT:     math.{{exp|log|tanh|erf|sin|cos|rsqrt}}
  // CHECK:         math.fma
  // CHECK:         math.sqrt
  // CHECK-NOT:     math.{{exp|log|tanh|erf|sin|cos|rsqrt}}
  func.func @functions(%x: f32, %d: f64) -> (f32, f32, f32, f32, f32, f64, f64, f64) attributes {burin.kernel} {
    %a = math.exp %x : f32
    %b = math.log %x : f32
    %c = math.tanh %x : f32
    %e = math.erf %x : f32
    %f = math.rsqrt %x : f32
    %g = math.exp %d : f64
    %h = math.sin %d : f64
    %i = math.cos %d : f64
    return %a, %b, %c, %e, %f, %g, %h, %i : f32, f32, f32, f32, f32, f64, f64, f64
  }
}
