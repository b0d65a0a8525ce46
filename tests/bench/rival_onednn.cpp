// oneDNN as a worker of the bench, by one of its ways: `rival_onednn matmul | sgemm | bf16`.
#include <dnnl.hpp>
#include <omp.h>

#include "worker.h"

using namespace burin::bench;

// Operands as they lie in memory: what the primitive packs is part of its run. In bf16 they are narrowed beforehand,
// and the sums stay f32.
static Run matmul(const Gemm &g, bool narrow, const float *a, const float *b, float *y, std::string &kernel) {
  using namespace dnnl;
  using tag = memory::format_tag;
  static engine cpu(engine::kind::cpu, 0);
  static stream order(cpu);
  const auto operand = [&](const memory::dims &sizes, tag layout, const float *values) {
    const memory whole({sizes, memory::data_type::f32, layout}, cpu, const_cast<float *>(values));
    if (!narrow)
      return whole;
    memory narrowed({sizes, memory::data_type::bf16, layout}, cpu);
    reorder(whole, narrowed).execute(order, const_cast<memory &>(whole), narrowed);
    order.wait();
    return narrowed;
  };
  memory memoryA = operand({g.m, g.k}, g.transposeA ? tag::ba : tag::ab, a),
         memoryB = operand({g.k, g.n}, g.transposeB ? tag::ba : tag::ab, b);
  memory::desc descY({g.m, g.n}, memory::data_type::f32, tag::ab);
  dnnl::matmul::primitive_desc desc(dnnl::matmul::desc(memoryA.get_desc(), memoryB.get_desc(), descY), cpu);
  kernel += desc.impl_info_str();
  dnnl::matmul product(desc);
  std::unordered_map<int, memory> arguments = {
      {DNNL_ARG_SRC, memoryA}, {DNNL_ARG_WEIGHTS, memoryB}, {DNNL_ARG_DST, memory(descY, cpu, y)}};
  return [=]() mutable {
    product.execute(order, arguments);
    order.wait();
  };
}

int main(int argc, char **argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  return serveGemm([=](const Gemm &g, int threads, const float *a, const float *b, float *y, std::string &kernel) {
    omp_set_num_threads(threads);
    const dnnl_version_t *version = dnnl_version();
    kernel = "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + " ";
    if (way != "sgemm")
      return matmul(g, way == "bf16", a, b, y, kernel);
    kernel += "sgemm";
    return Run([=] {
      dnnl_sgemm(g.transposeA ? 'T' : 'N', g.transposeB ? 'T' : 'N', g.m, g.n, g.k, 1, a, g.strideA(), b, g.strideB(),
                 0, y, g.n);
    });
  });
}
