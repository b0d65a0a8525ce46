// One loop per instruction set, chosen when the program runs: the file itself is compiled for any machine of its kind.
// Sixteen accumulators hide the latency of two units with four cycles each twice over.
#include "device/peak.h"

#include <omp.h>

#include <cstdint>
#include <vector>

#include "device/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace burin::runtime {
namespace {

constexpr int accumulators = 16;

// Runs `rounds` times all accumulators, returns something that depends on every one of them.
struct Loop {
  float (*run)(int64_t rounds, float factor, float term);
  double flopsPerRound;
};

float plainLoop(int64_t rounds, float factor, float term) {
  float sum[accumulators * 4] = {};
  for (int64_t round = 0; round < rounds; ++round)
    for (float &lane : sum)
      lane = lane * factor + term;
  float total = 0;
  for (float lane : sum)
    total += lane;
  return total;
}

#if defined(__x86_64__)

__attribute__((target("avx2,fma"))) float avx2Loop(int64_t rounds, float factor, float term) {
  __m256 f = _mm256_set1_ps(factor), t = _mm256_set1_ps(term), sum[12];
  for (__m256 &lane : sum)
    lane = t;
  for (int64_t round = 0; round < rounds; ++round)
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i)
      sum[i] = _mm256_fmadd_ps(sum[i], f, t);
  for (int i = 1; i < 12; ++i)
    sum[0] = _mm256_add_ps(sum[0], sum[i]);
  return _mm256_cvtss_f32(sum[0]);
}

__attribute__((target("avx512f"))) float avx512Loop(int64_t rounds, float factor, float term) {
  __m512 f = _mm512_set1_ps(factor), t = _mm512_set1_ps(term), sum[accumulators];
  for (__m512 &lane : sum)
    lane = t;
  for (int64_t round = 0; round < rounds; ++round)
#pragma GCC unroll 16
    for (int i = 0; i < accumulators; ++i)
      sum[i] = _mm512_fmadd_ps(sum[i], f, t);
  for (int i = 1; i < accumulators; ++i)
    sum[0] = _mm512_add_ps(sum[0], sum[i]);
  return _mm512_cvtss_f32(sum[0]);
}

__attribute__((target("avx512f,avx512bf16"))) float avx512Bf16Loop(int64_t rounds, float factor, float term) {
  auto f = reinterpret_cast<__m512bh>(_mm512_set1_ps(factor));
  __m512 sum[accumulators];
  for (__m512 &lane : sum)
    lane = _mm512_set1_ps(term);
  for (int64_t round = 0; round < rounds; ++round)
#pragma GCC unroll 16
    for (int i = 0; i < accumulators; ++i)
      sum[i] = _mm512_dpbf16_ps(sum[i], f, f);
  for (int i = 1; i < accumulators; ++i)
    sum[0] = _mm512_add_ps(sum[0], sum[i]);
  return _mm512_cvtss_f32(sum[0]);
}

#endif

Loop bestLoop([[maybe_unused]] std::string_view dtype) {
#if defined(__x86_64__)
  if (dtype == "bf16" && cpuHas("avx512_bf16"))
    return {avx512Bf16Loop, 2.0 * 32 * accumulators};
  if (cpuHas("avx512f"))
    return {avx512Loop, 2.0 * 16 * accumulators};
  if (cpuHas("avx2") && cpuHas("fma"))
    return {avx2Loop, 2.0 * 8 * 12};
#endif
  return {plainLoop, 2.0 * 4 * accumulators};
}

} // namespace

double measurePeak(std::string_view dtype, int threads, double seconds) {
  const Loop loop = bestLoop(dtype);
  constexpr int64_t rounds = 20000; // well under a millisecond, so that all threads stop close together
  double total = 0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
  {
    // Volatile, so that the compiler can neither fold the loop nor drop it.
    volatile float factor = 0.5f, term = 0.25f, sink = 0;
    sink = loop.run(rounds, factor, term);
#pragma omp barrier
    double start = omp_get_wtime(), now = start;
    int64_t done = 0;
    for (; now - start < seconds; now = omp_get_wtime()) {
      sink = loop.run(rounds, factor, term);
      done += rounds;
    }
    (void)sink;
    total += static_cast<double>(done) * loop.flopsPerRound / (now - start);
  }
  return total / 1e9;
}

} // namespace burin::runtime
