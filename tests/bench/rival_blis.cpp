// BLIS as a worker of the bench. Its environment may name another configuration than the one it takes by itself.
#include <blis-openmp/blis.h>

#include "worker.h"

using namespace burin::bench;

int main() {
  bli_init();
  return serveGemm([](const Gemm &g, int threads, const float *a, const float *b, float *y, std::string &kernel) {
    bli_thread_set_num_threads(threads);
    kernel = std::string("BLIS ") + bli_info_get_version_str() + " " + bli_arch_string(bli_arch_query_id());
    return [=] {
      float one = 1, zero = 0;
      bli_sgemm(g.transposeA ? BLIS_TRANSPOSE : BLIS_NO_TRANSPOSE, g.transposeB ? BLIS_TRANSPOSE : BLIS_NO_TRANSPOSE,
                g.m, g.n, g.k, &one, const_cast<float *>(a), g.strideA(), 1, const_cast<float *>(b), g.strideB(), 1,
                &zero, y, g.n, 1);
    };
  });
}
