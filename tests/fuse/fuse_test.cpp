// Every fusion against the chain it replaces. The unfused chain in double precision is the truth: fused ops, their
// adjoints and their compiled kernels are each held against it, and so is the compiled unfused chain.
#include <cmath>
#include <map>

#include "mlir/Pass/PassManager.h"
#include "passes/import/import.h"
#include "passes/passes.h"
#include "tests/ops/attention.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"
#include "tests/support/program.h"
#include "gtest/gtest.h"

namespace burin::test {
namespace {

const std::vector<std::string> allFusions = {"burin-fuse-attention", "burin-fuse-swiglu", "burin-fuse-linear-loss"};

// A graph whose f32 operands are parameters. Where its result is no scalar, the loss weighs the elements by given
// random numbers.
Graph graphOf(const OpCase &test) {
  Graph graph;
  std::vector<Tensor> in;
  for (const OpOperand &operand : test.operands) {
    const std::string name = "x" + std::to_string(in.size());
    in.push_back(operand.dtype == Dtype::f32 && operand.differentiated
                     ? graph.parameter(name.c_str(), operand.shape, constant(0), false)
                     : graph.input(name.c_str(), operand.shape, operand.dtype));
  }
  const Tensor y = test.build(in);
  if (y.shape().rank() == 0) {
    graph.output("loss", y);
    return graph;
  }
  Shape dims;
  for (int i = 0; i < y.shape().rank(); ++i)
    dims.append(i);
  graph.output("loss", reduce_sum(mul(y, graph.input("weights", y.shape(), Dtype::f32)), {.dims = dims}));
  return graph;
}

std::vector<Values> drawAll(mlir::func::FuncOp function, const OpCase &test) {
  Random random(20240229);
  std::vector<Values> arguments;
  for (const Slot &slot : argumentsOf(function)) {
    if (!slot.name.starts_with("x") || slot.role == "gradient") {
      arguments.push_back(slot.name == "loss_scale" || slot.name == "accumulate"
                              ? Values::scalar(1)
                              : randomReals(random, slot.shape, -1, 1));
      continue;
    }
    const OpOperand &operand = test.operands.at(std::stoul(slot.name.substr(1)));
    if (!operand.values.empty())
      arguments.push_back(Values(slot.shape, operand.values));
    else if (slot.integers)
      arguments.push_back(
          randomIntegers(random, slot.shape, static_cast<int64_t>(operand.lower), static_cast<int64_t>(operand.upper)));
    else
      arguments.push_back(randomReals(random, slot.shape, operand.lower, operand.upper));
  }
  return arguments;
}

// The entries of case i: loss_i and step_i.
mlir::OwningOpRef<mlir::ModuleOp> moduleOf(const std::vector<OpCase> &cases, const std::string &cpu) {
  mlir::OwningOpRef<mlir::ModuleOp> module = emptyModule(cpu);
  for (size_t i = 0; i < cases.size(); ++i) {
    const Graph graph = graphOf(cases[i]);
    const ParameterLayout layout(graph);
    for (bool differentiate : {false, true})
      if (!importGraph(*module, graph, layout,
                       {.name = (differentiate ? "step_" : "loss_") + std::to_string(i),
                        .outputs = {"loss"},
                        .differentiate = differentiate}))
        throw std::runtime_error("case " + cases[i].name + " cannot be imported");
  }
  return module;
}

mlir::OwningOpRef<mlir::ModuleOp> jointOf(const std::vector<OpCase> &cases, StageOptions options) {
  mlir::OwningOpRef<mlir::ModuleOp> module = moduleOf(cases, "x86-64");
  options.stopAfter = "joint";
  lower(*module, options);
  return module;
}

int count(mlir::func::FuncOp function, llvm::StringRef op) {
  int found = 0;
  function.walk([&](mlir::Operation *each) { found += each->getName().getStringRef() == op; });
  return found;
}

// `with` as in StageOptions; `expected`: how often each op occurs in the joint function. Unfused chains are compiled
// too, unless told otherwise.
void expectFusionKeepsResults(const std::vector<OpCase> &cases, const std::vector<std::string> &with,
                              const std::map<std::string, int> &expected, bool unfusedToo = true) {
  const mlir::OwningOpRef<mlir::ModuleOp> plain = jointOf(cases, {.without = allFusions}),
                                          fused = jointOf(cases, {.with = with});
  std::vector<Results> truth;
  std::vector<std::vector<Values>> arguments;
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].name);
    const std::string number = std::to_string(i);
    mlir::func::FuncOp loss = entry(*plain, "loss_" + number), step = entry(*plain, "step_" + number),
                       fusedStep = entry(*fused, "step_" + number);
    for (const auto &[op, times] : expected)
      EXPECT_EQ(count(fusedStep, op), times) << op;
    arguments.push_back(drawAll(step, cases[i]));
    truth.push_back(evaluate(step, arguments.back()));
    const Results actual = evaluate(fusedStep, arguments.back());
    for (size_t r = 0; r < actual.size(); ++r)
      expectClose(actual[r], truth.back()[r], 1e-9, "fused, in double, result " + std::to_string(r));
    expectGradients(loss, fusedStep, drawAll(loss, cases[i]), /*directions=*/3, /*tolerance=*/1e-6, /*seed=*/i + 1);
  }
  for (const std::string &cpu : machineTargets())
    for (bool fuse : {true, false}) {
      if (!fuse && !unfusedToo)
        continue;
      StageOptions options;
      (fuse ? options.with : options.without) = fuse ? with : allFusions;
      const Program program(moduleOf(cases, cpu), options);
      for (size_t i = 0; i < cases.size(); ++i) {
        const std::string name = "step_" + std::to_string(i);
        const Results actual = program.run(name, arguments[i]);
        for (size_t r = 0; r < actual.size(); ++r)
          expectClose(actual[r], truth[i][r], 1e-5,
                      cases[i].name + (fuse ? ", fused" : ", unfused") + ", compiled for " + cpu + ", result " +
                          std::to_string(r));
      }
    }
}

TEST(Attention, VariantsThatAreNotOursAreFused) {
  for (int64_t length : {5, 33})
    expectFusionKeepsResults(attentionVariants(length, 8), {},
                             {{"burin.attention", 1}, {"burin.attention_grad", 1}, {"burin.softmax", 0}});
}

TEST(Attention, BlocksOfKeysAndQueriesJoinSeamlessly) {
  std::vector<OpCase> cases = {causalAttention({1, 2}, 129, 16), causalAttention({2}, 256, 8),
                               plainAttention({2}, 65, 300, 16, 16), attentionVariants(129, 8)[0]};
  expectFusionKeepsResults(cases, {}, {{"burin.attention", 1}, {"burin.softmax", 0}});
}

class OddAttention : public testing::TestWithParam<int64_t> {};

TEST_P(OddAttention, OfEveryNumberOfKeys) {
  std::vector<OpCase> cases;
  for (int64_t keys : oddSizes)
    cases.push_back(plainAttention({2}, GetParam(), keys, 5, 7));
  cases.push_back(causalAttention({2}, GetParam(), 13));
  expectFusionKeepsResults(cases, {}, {{"burin.attention", 1}}, /*unfusedToo=*/false);
}

INSTANTIATE_TEST_SUITE_P(Queries, OddAttention, testing::ValuesIn(oddSizes), testing::PrintToStringParamName());

// Queries, keys, values, weights and their gradients are rounded to 8 bits before they meet, of every odd number.
TEST(Attention, ProductsInBf16StayNear) {
  std::vector<OpCase> cases;
  for (size_t i = 0; i < std::size(oddSizes); ++i) {
    const auto odd = [&](size_t j) { return oddSizes[j % std::size(oddSizes)]; };
    cases.push_back(i % 2 ? plainAttention({2}, odd(i), odd(3 * i), odd(i + 2), odd(i + 5))
                          : causalAttention({2}, odd(i), odd(i + 3)));
    cases.push_back(plainAttention({2}, odd(2 * i + 1), odd(i + 4), odd(i + 1), 5));
  }
  const mlir::OwningOpRef<mlir::ModuleOp> plain = jointOf(cases, {.without = allFusions});
  std::vector<std::string> targets = machineTargets();
  if (__builtin_cpu_supports("avx512bf16"))
    targets.push_back("cooperlake");
  for (const std::string &cpu : targets) {
    mlir::OwningOpRef<mlir::ModuleOp> module = moduleOf(cases, cpu);
    (*module)->setAttr("burin.dtype", mlir::StringAttr::get(&context(), "bf16"));
    const Program program(std::move(module));
    double furthest = 0;
    for (size_t i = 0; i < cases.size(); ++i) {
      mlir::func::FuncOp step = entry(*plain, "step_" + std::to_string(i));
      const std::vector<Values> arguments = drawAll(step, cases[i]);
      const Results truth = evaluate(step, arguments), actual = program.run("step_" + std::to_string(i), arguments);
      double weights = 0;
      for (const auto &[slot, values] : llvm::zip_equal(argumentsOf(step), arguments))
        weights += slot.name == "weights" ? static_cast<double>(values.size()) : 0;
      for (size_t r = 0; r < actual.size(); ++r) {
        const std::string what = cases[i].name + ", compiled for " + cpu + ", result " + std::to_string(r);
        for (int64_t e = 0; e < actual[r].size(); ++e)
          furthest = std::max(furthest, std::abs(actual[r][e] - truth[r][e]));
        // The loss is a sum of as many random terms as there are weights, most of which cancel.
        if (actual[r].size() == 1)
          EXPECT_NEAR(actual[r][0], truth[r][0], 0.01 * std::sqrt(weights)) << what;
        else
          expectClose(actual[r], truth[r], 0.02, what);
      }
    }
    EXPECT_GT(furthest, 1e-4) << "nothing was rounded for " << cpu;
  }
}

TEST(Attention, ScoresOfAnySizeStayFinite) {
  std::vector<OpCase> cases = {causalAttention({2}, 17, 8), plainAttention({2}, 17, 33, 8, 8)};
  for (OpCase &test : cases)
    for (int operand : {0, 1})
      test.operands[operand].lower = 20, test.operands[operand].upper = 40;
  const mlir::OwningOpRef<mlir::ModuleOp> joint = jointOf(cases, {});
  for (const std::string &cpu : machineTargets()) {
    const Program program(moduleOf(cases, cpu));
    for (size_t i = 0; i < cases.size(); ++i) {
      mlir::func::FuncOp step = entry(*joint, "step_" + std::to_string(i));
      for (const Values &result : program.run("step_" + std::to_string(i), drawAll(step, cases[i])))
        for (double value : result.data)
          ASSERT_TRUE(std::isfinite(value)) << cases[i].name << " on " << cpu;
    }
  }
}

// Attention over x and positions, with whatever stands between the projections and the heads' products.
OpCase attentionOf(int64_t batch, int64_t length, int64_t heads, int64_t depth, nn::Attention options,
                   bool eachHasPositions = false) {
  options.heads = static_cast<int>(heads);
  if (!options.rope_theta)
    options.rope_theta = 100;
  // Weights are drawn from [-1, 1): queries and keys come out of about the same size.
  const double most = 2 / std::sqrt(static_cast<double>(heads * depth));
  return {.name = std::to_string(batch) + "x" + std::to_string(length) + ", " + std::to_string(heads) + " heads of " +
                  std::to_string(depth) + (options.rope_half_split ? " split" : "") +
                  (options.qk_norm ? " normed" : "") + (options.projection.bias ? " biased" : "") +
                  (options.kv_heads ? " grouped" : "") + (options.fused_qkv ? " in one" : "") +
                  (eachHasPositions ? ", positions of their own" : ""),
          .operands = {{.shape = {batch, length, heads * depth}, .lower = -most, .upper = most},
                       positions(eachHasPositions ? Shape{batch, length} : Shape{length})},
          .build = [=](auto &in) {
            const Tensor y = nn::attention(in[0], in[1], options, Scope("attn"));
            return reduce_sum(mul(y, y), {.dims = {0, 1, 2}}); // a sum of random terms would cancel
          }};
}

// Launches of an entry that rotate or norm heads and do nothing else, the tables of sines and cosines apart.
int launchesOnHeadsAlone(const OpCase &test, const std::string &cpu, const std::string &name) {
  mlir::OwningOpRef<mlir::ModuleOp> module = moduleOf({test}, cpu);
  lower(*module, {.stopAfter = "grouped"});
  int found = 0;
  entry(*module, name).walk([&](GroupOp group) {
    const auto isOnHeads = [](mlir::Operation &op) {
      const auto of = op.getAttrOfType<mlir::StringAttr>("burin.of");
      return of && (of == "rope" || of == "rms_norm") && !op.getName().getStringRef().ends_with("rope_table") &&
             !mlir::isa<View>(op);
    };
    found += group.getKind() == "rows" && llvm::any_of(group.getBody().front(), isOnHeads);
  });
  return found;
}

// Rotations, norms and biases of queries and keys are computed with the products that make them and, backward, with
// attention's gradients.
TEST(Heads, AreComputedWithTheProducts) {
  const std::vector<OpCase> simple = {
      attentionOf(2, 33, 3, 6, {}),
      attentionOf(2, 65, 1, 14, {.rope_half_split = true}),
      attentionOf(1, 5, 3, 2, {.rope_half_split = true}),
      attentionOf(1, 65, 2, 34, {}),
      attentionOf(2, 34, 5, 10, {.fused_qkv = true, .projection = {.bias = true}}),
      attentionOf(3, 40, 2, 16, {}, /*eachHasPositions=*/true),
  };
  // Backward, norms have work that waits for sums over all rows, and heads that share keys are rows of one matrix.
  std::vector<OpCase> cases = {
      attentionOf(3, 32, 4, 6, {.kv_heads = 2, .rope_half_split = true, .qk_norm = true}),
      attentionOf(1, 17, 2, 34, {.qk_norm = true}),
      attentionOf(1, 129, 1, 130, {}), // more than a panel, and gradients for which scratch has no room
  };
  cases.insert(cases.end(), simple.begin(), simple.end());
  for (const OpCase &test : cases)
    EXPECT_EQ(launchesOnHeadsAlone(test, "x86-64-v3", "loss_0"), 0) << test.name;
  for (const OpCase &test : simple)
    for (const std::string target : {"x86-64-v3", "nvptx"})
      EXPECT_EQ(launchesOnHeadsAlone(test, target, "step_0"), 0) << test.name << " for " << target;
  expectFusionKeepsResults(cases, {}, {{"burin.attention", 1}}, /*unfusedToo=*/false);
}

// Few rows to a sequence: a product would take few at a time.
TEST(Heads, OfShortSequencesAreComputedAlone) {
  const OpCase test = attentionOf(3, 7, 2, 8, {});
  EXPECT_GT(launchesOnHeadsAlone(test, "x86-64-v3", "step_0"), 0);
  expectFusionKeepsResults({test}, {}, {{"burin.attention", 1}}, /*unfusedToo=*/false);
}

TEST(Heads, AreComputedWithTheProductsOnDevices) {
  const std::vector<OpCase> cases = {
      attentionOf(2, 33, 2, 6, {}),
      attentionOf(1, 35, 2, 10, {.kv_heads = 1, .rope_half_split = true, .qk_norm = true}),
      attentionOf(1, 65, 1, 66, {.rope_half_split = true})}; // gradients take more than scratch has room for
  const mlir::OwningOpRef<mlir::ModuleOp> plain = jointOf(cases, {.without = allFusions});
  for (const std::string &device : deviceTargets()) {
    const Program program(moduleOf(cases, device));
    for (size_t i = 0; i < cases.size(); ++i) {
      const std::string name = "step_" + std::to_string(i);
      mlir::func::FuncOp step = entry(*plain, name);
      const std::vector<Values> arguments = drawAll(step, cases[i]);
      const Results truth = evaluate(step, arguments), actual = program.run(name, arguments);
      for (size_t r = 0; r < actual.size(); ++r)
        expectClose(actual[r], truth[r], 1e-5, cases[i].name + ", result " + std::to_string(r));
    }
  }
}

// What is both keys and values has a gradient that joins two of attention's results, of another size than the third;
// queries have one that is joined to something else.
TEST(Heads, GradientsOfSeveralSizesAreJoined) {
  std::vector<OpCase> cases;
  for (auto [queries, keys] : {std::pair(2, 1), {5, 3}, {3, 5}, {33, 33}})
    cases.push_back({.name = std::to_string(queries) + " by " + std::to_string(keys),
                     .operands = {{.shape = {2, queries, 6}}, {.shape = {2, keys, 6}}},
                     .build = [](auto &in) {
                       const Tensor weights = softmax(matmul(in[0], past(in[1]), {.transpose_b = true}));
                       return add(scale(in[0], 0.5), matmul(weights, past(in[1])));
                     }});
  expectFusionKeepsResults(cases, {}, {{"burin.attention", 1}}, /*unfusedToo=*/false);
}

OpCase gated(const std::string &name, const std::function<Tensor(Tensor)> &activation) {
  return {.name = name,
          .operands = {{.shape = {2, 7, 5}}, {.shape = {17, 5}}, {.shape = {17, 5}}, {.shape = {3, 17}}},
          .build = [=](auto &in) {
            const Matmul linear = {.transpose_b = true};
            return matmul(mul(matmul(in[0], in[2], linear), activation(matmul(in[0], in[1], linear))), in[3], linear);
          }};
}

TEST(Swiglu, KeptAndRecomputedProductsGiveTheSame) {
  const std::vector<OpCase> cases = {gated("silu gate", [](Tensor x) { return silu(x); })};
  // One product follows; backward, it has two and the gated layer four.
  const std::map<std::string, int> counts = {{"burin.swiglu", 1}, {"burin.matmul", 7}};
  expectFusionKeepsResults(cases, {}, counts);
  expectFusionKeepsResults(cases, {"burin-recompute{products=true}"}, counts);
}

TEST(Swiglu, OtherGatesStayChains) {
  expectFusionKeepsResults({gated("squared relu gate",
                                  [](Tensor x) {
                                    const Tensor r = relu(x);
                                    return mul(r, r);
                                  }),
                            gated("gelu gate", [](Tensor x) { return gelu(x); })},
                           {}, {{"burin.swiglu", 0}});
}

TEST(LinearLoss, ChunksGiveTheWholeLossAndItsGradients) {
  std::vector<OpCase> cases;
  for (int64_t rows : {1, 3, 17})
    cases.push_back(
        {.name = std::to_string(rows) + " rows",
         .operands = {{.shape = {2, rows, 5}},
                      {.shape = {33, 5}},
                      {.shape = {2, rows}, .dtype = Dtype::i32, .lower = -1, .upper = 33}},
         .build = [](auto &in) { return cross_entropy(matmul(gelu(in[0]), in[1], {.transpose_b = true}), in[2]); }});
  expectFusionKeepsResults(cases, {"burin-fuse-linear-loss{always=true}"},
                           {{"burin.linear_cross_entropy", 1}, {"burin.cross_entropy", 0}});
}

} // namespace
} // namespace burin::test
