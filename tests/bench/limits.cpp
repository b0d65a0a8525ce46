// What the machine can do, as a worker of the bench. Cases: `fma_f32` and `fma_bf16` (GFLOP/s of multiply-adds),
// `copy_BYTES` (GB/s of a copy that reads and writes so many bytes together).
#include <emmintrin.h>
#include <omp.h>

#include <cstring>

#include "device/peak.h"
#include "worker.h"

using namespace burin::bench;

using Copy = void (*)(float *to, const float *from, int64_t count);

static void plainCopy(float *to, const float *from, int64_t count) {
  std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
}

// Past the caches: without reading first what is overwritten.
static void streamedCopy(float *to, const float *from, int64_t count) {
  for (int64_t i = 0; i < count; i += 4)
    _mm_stream_ps(to + i, _mm_load_ps(from + i));
  _mm_sfence();
}

// Of the faster way.
static double copyRate(int64_t bytes, int threads, double seconds) {
  static int64_t allocated = 0;
  static Floats from = floats(1), to = floats(1);
  const int64_t line = 16, lines = bytes / 8 / line + 1, count = lines * line;
  if (count != allocated) {
    from = floats(count), to = floats(count);
    fill(from.get(), count, 1);
    allocated = count;
  }
  double best = INFINITY;
  for (Copy copy : {plainCopy, streamedCopy})
    best = std::min(best, fastest(seconds / 2, [&] {
#pragma omp parallel num_threads(threads)
                      {
                        int64_t rank = omp_get_thread_num(), first = lines * rank / threads * line;
                        copy(to.get() + first, from.get() + first, lines * (rank + 1) / threads * line - first);
                      }
                    }));
  return 2 * static_cast<double>(count) * sizeof(float) / best / 1e9;
}

int main() {
  return serve([](const std::string &name, int threads, double seconds) {
    double rate = 0;
    if (name == "fma_f32" || name == "fma_bf16")
      // Slices, for the same reason as the fastest run.
      for (double end = now() + seconds; now() < end;)
        rate = std::max(rate, burin::runtime::measurePeak(name.substr(4), threads, 0.005));
    else
      rate = copyRate(std::atoll(name.c_str() + name.find('_') + 1), threads, seconds);
    return "{\"rate\": " + std::to_string(rate) + "}";
  });
}
