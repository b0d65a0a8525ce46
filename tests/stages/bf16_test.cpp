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

// A graph in which products, and attention, read values that are made on the way: from the left and from the right,
// turned and as heads. With `isShown` these values are results as well.
Graph readByProducts(int64_t m, int64_t n, int64_t k, bool isShown) {
  Graph graph;
  const auto input = [&](const char *name, const Shape &shape) { return graph.input(name, shape, Dtype::f32); };
  const auto made = [&](const char *name, Tensor x) {
    const Tensor y = relu(x);
    if (isShown)
      graph.output(name, y);
    return y;
  };
  const Tensor x = made("x", input("a", {m, k})), y = made("y", matmul(x, input("b", {k, n})));
  graph.output("left", matmul(x, input("c", {k, n})));
  graph.output("left turned", matmul(x, input("d", {m, n}), {.transpose_a = true}));
  graph.output("right", matmul(input("e", {n, m}), x));
  graph.output("right turned", matmul(input("f", {n, k}), x, {.transpose_b = true}));
  graph.output("after a product", matmul(y, input("g", {n, k})));
  graph.output("sums", reduce_sum(y, {.dims = {1}}));
  const Tensor heads = transpose(reshape(made("heads", input("h", {m, 2 * k})), {m, 2, k}), {1, 0, 2});
  graph.output("heads left", matmul(heads, input("i", {2, k, n})));
  graph.output("heads right", matmul(input("j", {2, n, m}), heads));
  // Read again in its group when the sums of its rows are there.
  const Tensor powers = exp(input("n", {m, k}));
  if (isShown)
    graph.output("powers", powers);
  graph.output("powers left", matmul(powers, input("p", {k, n})));
  graph.output("shares", matmul(powers / reduce_sum(powers, {.dims = {1}, .keep_dims = true}), input("r", {k, n})));
  const Tensor q = made("q", input("k", {2, m, k})), keys = made("keys", input("l", {2, n, k})),
               values = made("values", input("m", {2, n, 5}));
  const Tensor mixed = matmul(softmax(matmul(q, keys, {.transpose_b = true})), values);
  if (isShown)
    graph.output("mixed", mixed);
  graph.output("attention", matmul(mixed, input("o", {5, n})));
  return graph;
}

// What only products read lies in memory in bf16, what is a result as well in f32: they round either, so that not a bit
// of what they give may differ.
TEST(Bf16, ProductsDoNotSeeHowTheirOperandsAreStored) {
  struct Sizes {
    int64_t m, n, k;
  };
  const std::vector<Sizes> all = {{1, 5, 13}, {3, 65, 2}, {5, 1, 1}, {17, 33, 7}, {31, 2, 129}, {129, 13, 33}};
  Random random(7);
  for (const std::string &cpu : targets()) {
    mlir::OwningOpRef<mlir::ModuleOp> module = inBf16(emptyModule(cpu));
    for (size_t i = 0; i < all.size(); ++i)
      for (bool isShown : {false, true}) {
        const Graph graph = readByProducts(all[i].m, all[i].n, all[i].k, isShown);
        std::vector<std::string> outputs;
        for (const Output &output : graph.outputs)
          outputs.emplace_back(output.name.view());
        ASSERT_TRUE(importGraph(*module, graph, ParameterLayout(graph),
                                {.name = (isShown ? "shown_" : "hidden_") + std::to_string(i),
                                 .outputs = outputs,
                                 .differentiate = false}));
      }
    const Program program(std::move(module));
    for (size_t i = 0; i < all.size(); ++i) {
      const std::string shown = "shown_" + std::to_string(i), hidden = "hidden_" + std::to_string(i);
      std::vector<Values> arguments;
      for (const Slot &slot : argumentsOf(program.joint(shown)))
        arguments.push_back(randomReals(random, slot.shape, -1, 1));
      const Results expected = program.run(shown, arguments), actual = program.run(hidden, arguments);
      const std::vector<Slot> expectedSlots = resultsOf(program.joint(shown)), slots = resultsOf(program.joint(hidden));
      for (size_t r = 0; r < slots.size(); ++r) {
        const auto same = llvm::find_if(expectedSlots, [&](const Slot &slot) { return slot.name == slots[r].name; });
        EXPECT_EQ(actual[r].data, expected[static_cast<size_t>(same - expectedSlots.begin())].data)
            << slots[r].name << " of case " << i << ", compiled for " << cpu;
      }
    }
  }
}

// The backward part reads what the forward part made of x w: kept in bf16 where that does no harm, in f32 where it is a
// result as well. Gradients agree as far as products in bf16 do.
TEST(Bf16, WhatIsKeptForBackwardIsGoodEnoughForGradients) {
  struct Kept {
    std::string name;
    Tensor (*of)(Tensor product, Tensor beside);
    double product, beside; // what they are about: where functions are flat, their slopes are the first to suffer
  };
  const std::vector<Kept> all = {{"tanh", [](Tensor p, Tensor) { return tanh(p); }, 3, 0},
                                 {"sigmoid", [](Tensor p, Tensor) { return sigmoid(p); }, 6, 0},
                                 {"silu", [](Tensor p, Tensor t) { return silu(p) * t; }, 1, 1},
                                 {"gelu", [](Tensor p, Tensor t) { return gelu(p + t); }, 1, 0},
                                 {"relu", [](Tensor p, Tensor t) { return relu(p + t); }, 1, -1},
                                 {"square", [](Tensor p, Tensor t) { return p * p * t; }, 1, 1},
                                 {"the lesser", [](Tensor p, Tensor t) { return minimum(p, t); }, 3, 3}};
  const int64_t m = 17, k = 33, n = 13, o = 5;
  const auto graphOf = [&](const Kept &kept, bool isShown) {
    Graph graph;
    const Tensor p = matmul(graph.input("x", {m, k}, Dtype::f32), graph.parameter("w", {k, n}, constant(0), false));
    const Tensor y = kept.of(p, graph.input("t", {m, n}, Dtype::f32));
    if (isShown) {
      graph.output("p", p);
      graph.output("y", y);
    }
    const Tensor z = matmul(y, graph.parameter("v", {n, o}, constant(0), false));
    graph.output("loss", reduce_sum(z * z, {.dims = {0, 1}}));
    return graph;
  };
  for (const std::string &cpu : {targets().front(), targets().back()})
    for (const Kept &kept : all) {
      Random random(7);
      std::vector<Values> forward;
      std::vector<Results> results;
      for (bool isShown : {false, true}) {
        const Graph graph = graphOf(kept, isShown);
        mlir::OwningOpRef<mlir::ModuleOp> module = inBf16(emptyModule(cpu));
        std::vector<std::string> outputs = {"loss"};
        if (isShown)
          outputs.insert(outputs.end(), {"p", "y"});
        ASSERT_TRUE(importGraph(*module, graph, ParameterLayout(graph),
                                {.name = "step", .outputs = outputs, .differentiate = true}));
        const Program program(std::move(module));
        const mlir::func::FuncOp joint = program.joint("step");
        if (forward.empty())
          for (const Slot &slot : argumentsOf(joint))
            if (slot.name == "x" || slot.name == "t" || slot.role == "parameter")
              forward.push_back(slot.name == "t" ? randomReals(random, slot.shape, kept.beside - 0.2, kept.beside + 0.2)
                                : slot.name == "w" ? randomReals(random, slot.shape, 0, 4 * kept.product / k)
                                : slot.name == "x" ? randomReals(random, slot.shape, 0, 1)
                                                   : randomReals(random, slot.shape, -1, 1));
        const Results given = program.run("step", jointArguments(joint, forward));
        const std::vector<Slot> slots = resultsOf(joint);
        Results gradients;
        for (size_t i = 0; i < slots.size(); ++i)
          if (slots[i].role == "gradient")
            gradients.push_back(given[i]);
        results.push_back(gradients);
      }
      ASSERT_EQ(results[0].size(), 2u);
      for (size_t r = 0; r < results[0].size(); ++r) {
        double apart = 0, norm = 0;
        for (int64_t e = 0; e < results[0][r].size(); ++e) {
          apart += std::pow(results[0][r][e] - results[1][r][e], 2);
          norm += std::pow(results[1][r][e], 2);
        }
        EXPECT_LT(std::sqrt(apart / norm), 0.01) << kept.name << ", gradient " << r << ", compiled for " << cpu;
      }
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
