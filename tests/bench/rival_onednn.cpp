// oneDNN as a worker of the bench, by one of its two ways: `rival_onednn matmul | sgemm`.
#include <dnnl.hpp>
#include <omp.h>

#include "worker.h"

using namespace burin::bench;

// Operands as they lie in memory: what the primitive packs is part of its run.
static Run matmul(const Gemm &g, const float *a, const float *b, float *y, std::string &kernel) {
  using namespace dnnl;
  using tag = memory::format_tag;
  static engine cpu(engine::kind::cpu, 0);
  static stream order(cpu);
  memory::desc descA({g.m, g.k}, memory::data_type::f32, g.transposeA ? tag::ba : tag::ab);
  memory::desc descB({g.k, g.n}, memory::data_type::f32, g.transposeB ? tag::ba : tag::ab);
  memory::desc descY({g.m, g.n}, memory::data_type::f32, tag::ab);
  dnnl::matmul::primitive_desc desc(dnnl::matmul::desc(descA, descB, descY), cpu);
  kernel += desc.impl_info_str();
  dnnl::matmul product(desc);
  std::unordered_map<int, memory> arguments = {{DNNL_ARG_SRC, memory(descA, cpu, const_cast<float *>(a))},
                                               {DNNL_ARG_WEIGHTS, memory(descB, cpu, const_cast<float *>(b))},
                                               {DNNL_ARG_DST, memory(descY, cpu, y)}};
  return [=]() mutable {
    product.execute(order, arguments);
    order.wait();
  };
}

int main(int argc, char **argv) {
  const bool sgemm = argc > 1 && std::string(argv[1]) == "sgemm";
  return serveGemm([=](const Gemm &g, int threads, const float *a, const float *b, float *y, std::string &kernel) {
    omp_set_num_threads(threads);
    const dnnl_version_t *version = dnnl_version();
    kernel = "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + " ";
    if (!sgemm)
      return matmul(g, a, b, y, kernel);
    kernel += "sgemm";
    return Run([=] {
      dnnl_sgemm(g.transposeA ? 'T' : 'N', g.transposeB ? 'T' : 'N', g.m, g.n, g.k, 1, a, g.strideA(), b, g.strideB(),
                 0, y, g.n);
    });
  });
}
