// Products in bf16: operands rounded to the nearest, ties to even; products exact, sums in f32. Compiled for every
// instruction set of this machine, with and without the instruction for it.
#include <cmath>
#include <limits>

#include "passes/import/import.h"
#include "tests/ops/elementwise.h"
#include "tests/stages/products.h"
#include "tests/stages/small_model.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"
#include "tests/support/op_test.h"
#include "tests/support/program.h"
#include "gtest/gtest.h"

namespace burin::test {
namespace {

// The nearest number with 8 significant bits. Not the bit arithmetic that the compiler emits.
double rounded(double x) {
  int exponent;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

Values rounded(const Values &x) {
  return elementwise(x, [](double element) { return rounded(element); });
}

// This machine's levels, one CPU with dot instructions on pairs where the machine has them, and a GPU's matrix units:
// as the device of the tests uses them, which is warpgroups where it is the emulator, and each warp for itself.
std::vector<std::string> targets() {
  std::vector<std::string> all = allTargets();
  if (!deviceTargets().empty())
    all.push_back("nvptx:sm_80");
  if (__builtin_cpu_supports("avx512bf16"))
    all.push_back("cooperlake");
  return all;
}

mlir::OwningOpRef<mlir::ModuleOp> inBf16(mlir::OwningOpRef<mlir::ModuleOp> module) {
  (*module)->setAttr("burin.dtype", mlir::StringAttr::get(&context(), "bf16"));
  return module;
}

void expectBf16Products(const std::vector<ProductCase> &cases) {
  for (const std::string &cpu : targets())
    expectProducts(
        inBf16(emptyModule(cpu)), cases, [](const Values &x) { return rounded(x); }, "compiled for " + cpu);
}

TEST(Bf16, ProductsOfOddSizesAreThoseOfRoundedOperands) {
  std::vector<ProductCase> cases;
  const std::vector<int64_t> sizes(std::begin(oddSizes), std::end(oddSizes));
  for (size_t i = 0; i < sizes.size(); ++i)
    for (size_t turn : {0, 3, 5, 7}) {
      const size_t j = (i + turn) % sizes.size();
      const int64_t m = sizes[i], n = sizes[j], k = sizes[(3 * i + 5 * j + 1) % sizes.size()];
      const bool a = (i + j) % 2, b = (i + j) % 3;
      cases.push_back(
          {a ? Shape{k, m} : Shape{m, k}, b ? Shape{n, k} : Shape{k, n}, {.transpose_a = a, .transpose_b = b}});
    }
  expectBf16Products(cases);
}

TEST(Bf16, BatchesHaveRightSidesOfTheirOwn) {
  expectBf16Products({{{3, 7, 5}, {3, 5, 33}, {}},
                      {{2, 3, 1, 17}, {2, 3, 17, 65}, {}},
                      {{5, 3, 7}, {7, 49}, {}},
                      {{3, 5, 7}, {3, 33, 5}, {.transpose_a = true, .transpose_b = true}}});
}

TEST(Bf16, ADepthBeyondTheCacheAddsUp) {
  expectBf16Products({{{9, 5001}, {5001, 50}, {}},
                      {{3001, 33}, {3001, 49}, {.transpose_a = true}},
                      // Sums of parts, whose right sides are packed where they are read.
                      {{7, 8195}, {8195, 131}, {}},
                      {{17, 8200}, {129, 8200}, {.transpose_b = true}}});
}

// The product by 1 is the rounded element itself.
TEST(Bf16, RoundsTiesToEvenAndKeepsWhatIsNoNumber) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<double> from = {1,
                                    1 + 0x1p-8,
                                    1 + 0x3p-8,
                                    1 + 0x1p-8 + 0x1p-20,
                                    1 + 0x3p-8 - 0x1p-20,
                                    -1 - 0x1p-8,
                                    0x1.fep0 + 0x1p-8,
                                    -0.0,
                                    3.3895e38,
                                    std::numeric_limits<float>::max(),
                                    infinity,
                                    -infinity,
                                    std::numeric_limits<float>::quiet_NaN(),
                                    0x1p-126,
                                    -0x1.01p-120};
  const std::vector<double> to = {1,
                                  1,
                                  1 + 0x1p-6,
                                  1 + 0x1p-7,
                                  1 + 0x1p-7,
                                  -1,
                                  2,
                                  -0.0,
                                  rounded(3.3895e38),
                                  infinity,
                                  infinity,
                                  -infinity,
                                  std::numeric_limits<double>::quiet_NaN(),
                                  0x1p-126,
                                  -0x1p-120};
  const int64_t count = static_cast<int64_t>(from.size());
  for (const std::string &cpu : targets()) {
    Graph graph;
    const Tensor a = graph.input("a", {count, 1}, Dtype::f32), b = graph.input("b", {1, 1}, Dtype::f32);
    graph.output("c", matmul(a, b));
    mlir::OwningOpRef<mlir::ModuleOp> module = inBf16(emptyModule(cpu));
    ASSERT_TRUE(importGraph(*module, graph, ParameterLayout(graph),
                            {.name = "product", .outputs = {"c"}, .differentiate = false}));
    const Program program(std::move(module));
    const Values result = program.run("product", {Values({count, 1}, from), Values({1, 1}, 1.0)})[0];
    for (int64_t i = 0; i < count; ++i)
      if (std::isnan(to[static_cast<size_t>(i)]))
        EXPECT_TRUE(std::isnan(result[i])) << cpu;
      else
        EXPECT_EQ(result[i], to[static_cast<size_t>(i)]) << cpu << ", element " << i;
  }
}

// Loss and gradients of whole models lie as near those in f32 as 8 bits allow.
TEST(Bf16, ModelsStayNearTheirF32Selves) {
  for (const SmallModel &model : {smallModels().front(), smallModels().back()}) {
    SCOPED_TRACE(model.name);
    for (const std::string &cpu : {targets().front(), targets().back()}) {
      const Program narrow(inBf16(imported(model, {2, 5}, cpu))), wide(imported(model, {2, 5}, cpu));
      const std::vector<Values> arguments = drawArguments(narrow.joint("step"), model, 1);
      const Results actual = narrow.run("step", arguments), expected = wide.run("step", arguments);
      double dot = 0, actualNorm = 0, expectedNorm = 0;
      const std::vector<Slot> slots = resultsOf(narrow.joint("step"));
      for (size_t i = 0; i < actual.size(); ++i) {
        if (slots[i].role != "gradient") {
          expectClose(actual[i], expected[i], 0.02, slots[i].name + ", compiled for " + cpu);
          continue;
        }
        for (int64_t e = 0; e < actual[i].size(); ++e) {
          dot += actual[i][e] * expected[i][e];
          actualNorm += actual[i][e] * actual[i][e];
          expectedNorm += expected[i][e] * expected[i][e];
        }
      }
      EXPECT_GT(dot / std::sqrt(actualNorm * expectedNorm), 0.999) << cpu;
      EXPECT_NEAR(std::sqrt(actualNorm / expectedNorm), 1, 0.02) << cpu;
      EXPECT_NE(dot, expectedNorm) << "nothing was rounded";
    }
  }
}

} // namespace
} // namespace burin::test
