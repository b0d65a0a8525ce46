// How fast the machine multiplies and adds at best: the yardstick of `bench` and of the progress line.
#pragma once
#include <string_view>

namespace burin::runtime {

// GFLOP/s of a loop of independent fused multiply-adds on registers, on `threads` threads for about `seconds`.
// `dtype` is the model's: "bf16" times the bf16 dot product where the CPU has one, everything else f32.
double measurePeak(std::string_view dtype, int threads, double seconds);

} // namespace burin::runtime
