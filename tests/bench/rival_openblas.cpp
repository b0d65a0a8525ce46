// OpenBLAS as a worker of the bench.
#include <openblas-pthread/cblas.h>

#include "worker.h"

using namespace burin::bench;

int main() {
  return serveGemm([](const Gemm &g, int threads, const float *a, const float *b, float *y, std::string &kernel) {
    openblas_set_num_threads(threads);
    kernel = std::string(openblas_get_config()).substr(0, std::string("OpenBLAS 0.0.00").size()) + " " +
             openblas_get_corename();
    return [=] {
      cblas_sgemm(CblasRowMajor, g.transposeA ? CblasTrans : CblasNoTrans, g.transposeB ? CblasTrans : CblasNoTrans,
                  static_cast<int>(g.m), static_cast<int>(g.n), static_cast<int>(g.k), 1, a,
                  static_cast<int>(g.strideA()), b, static_cast<int>(g.strideB()), 0, y, static_cast<int>(g.n));
    };
  });
}
