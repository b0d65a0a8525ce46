// What the workers of the bench share: a worker is a process that waits for turns on stdin, each a line
//   CASE THREADS SECONDS
// repeats the case for about so many seconds and answers with a line of JSON, "seconds" being the fastest run. One
// worker works at a time; the others sleep.
#pragma once

#include <sys/mman.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

namespace burin::bench {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The time of the fastest run: the one that neighbours disturbed least. The first one, which wakes the threads, is
// never it where there are several.
inline double fastest(double seconds, const std::function<void()> &run) {
  double best = INFINITY, start = now(), begin, end;
  do {
    begin = now();
    run();
    end = now();
    best = std::min(best, end - begin);
  } while (end - start < seconds);
  return best;
}

using Turn = std::function<std::string(const std::string &name, int threads, double seconds)>;

inline int serve(const Turn &turn) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string name;
    int threads = 1;
    double seconds = 0;
    words >> name >> threads >> seconds;
    std::string answer;
    try {
      answer = turn(name, threads, seconds);
    } catch (const std::exception &error) {
      std::cerr << "error: " << name << ": " << error.what() << std::endl;
      return 1;
    }
    // Thread pools spin for some milliseconds after their last work; the next worker must not share the cores with
    // them.
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::cout << answer << std::endl;
  }
  return 0;
}

// On huge pages where the machine has them, as the compiled program's buffers.
using Floats = std::unique_ptr<float[], decltype(&std::free)>;
inline Floats floats(int64_t count) {
  constexpr size_t hugePage = size_t{2} << 20;
  const size_t bytes = (static_cast<size_t>(count) * sizeof(float) + hugePage - 1) / hugePage * hugePage;
  auto *data = static_cast<float *>(std::aligned_alloc(hugePage, bytes));
  if (!data)
    throw std::runtime_error("not enough memory");
  madvise(data, bytes, MADV_HUGEPAGE);
  return {data, &std::free};
}

// In [-1, 1), from a counter: equal in every worker.
inline float draw(uint64_t i) {
  uint64_t x = i * 0x9e3779b97f4a7c15; // SplitMix64
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return static_cast<float>(static_cast<double>(x >> 40) / (1 << 23) - 1);
}
inline void fill(float *data, int64_t count, uint64_t seed) {
  for (int64_t i = 0; i < count; ++i)
    data[i] = draw(seed + static_cast<uint64_t>(i));
}

// The product of a case SET_FORM_ROWS_OUT_IN: y[m, n] = sum over k of a[m, k] b[k, n], row-major, an operand being
// stored the other way round where it is transposed.
struct Gemm {
  bool transposeA = false, transposeB = false;
  int64_t m = 0, n = 0, k = 0;

  explicit Gemm(const std::string &name) {
    char set[32], form[32];
    long long rows, out, in;
    if (std::sscanf(name.c_str(), "%31[a-z]_%31[a-z]_%lld_%lld_%lld", set, form, &rows, &out, &in) != 5)
      throw std::runtime_error("no product");
    if (std::string(form) == "forward") { // x W^T
      m = rows, n = out, k = in;
      transposeB = true;
    } else if (std::string(form) == "input") { // dy W
      m = rows, n = in, k = out;
    } else { // weight: dy^T x
      m = out, n = in, k = rows;
      transposeA = true;
    }
  }

  int64_t strideA() const { return transposeA ? m : k; }
  int64_t strideB() const { return transposeB ? k : n; }

  // The worst of some elements of y, relative to the sum of the magnitudes that it adds up.
  double error(const float *a, const float *b, const float *y) const {
    double worst = 0;
    for (uint64_t sample = 0; sample < 16; ++sample) {
      auto i = static_cast<int64_t>((draw(2 * sample) + 1) / 2 * static_cast<float>(m)) % m;
      auto j = static_cast<int64_t>((draw(2 * sample + 1) + 1) / 2 * static_cast<float>(n)) % n;
      double sum = 0, magnitude = 0;
      for (int64_t l = 0; l < k; ++l) {
        double term = double(transposeA ? a[l * m + i] : a[i * k + l]) * (transposeB ? b[j * k + l] : b[l * n + j]);
        sum += term;
        magnitude += std::abs(term);
      }
      double error = std::abs(y[i * n + j] - sum) / magnitude;
      worst = error <= worst ? worst : error; // NaN included
    }
    return worst;
  }
};

// The main of a rival that multiplies matrices: `prepare` makes what a case needs once, and gives what is then timed.
// `kernel` names the code that the library chose.
using Run = std::function<void()>;
using Prepare =
    std::function<Run(const Gemm &gemm, int threads, const float *a, const float *b, float *y, std::string &kernel)>;
inline int serveGemm(const Prepare &prepare) {
  std::string current, kernel;
  Floats a = floats(1), b = floats(1), y = floats(1);
  Run run;
  double error = 0;
  return serve([&](const std::string &name, int threads, double seconds) {
    const std::string wanted = name + " " + std::to_string(threads);
    if (wanted != current) {
      const Gemm gemm(name);
      run = nullptr;
      a = floats(gemm.m * gemm.k), b = floats(gemm.k * gemm.n), y = floats(gemm.m * gemm.n);
      fill(a.get(), gemm.m * gemm.k, 1);
      fill(b.get(), gemm.k * gemm.n, uint64_t{1} << 40);
      fill(y.get(), gemm.m * gemm.n, uint64_t{2} << 40);
      run = prepare(gemm, threads, a.get(), b.get(), y.get(), kernel);
      run();
      error = gemm.error(a.get(), b.get(), y.get());
      current = wanted;
    }
    std::ostringstream answer;
    answer << "{\"seconds\": " << fastest(seconds, run) << ", \"error\": " << (error == error ? error : 1e30)
           << ", \"kernel\": \"" << kernel << "\"}";
    return answer.str();
  });
}

} // namespace burin::bench
