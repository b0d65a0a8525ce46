// What padding owes a model: queries that see nothing give exact zeros and get none back, padded keys have no
// influence, and ignored targets have neither loss nor gradients. Compiled for every instruction set of this machine,
// fused and not.
#include "tests/stages/small_model.h"
#include "tests/support/gradient.h"
#include "tests/support/program.h"
#include "gtest/gtest.h"

namespace burin::test {

namespace {

constexpr int64_t rows = 3, length = 17, width = 12;

// Attention without a residual path around it, on x as a parameter; the loss weighs each element by another number.
Graph padded(Batch batch, double dropout) {
  Graph graph;
  const Tensor x = graph.parameter("x", {batch.rows, length, width}, normal(1), /*decay=*/false);
  const Tensor positions = graph.input("positions", {length}, Dtype::i32);
  const nn::Attention attention{.heads = 2,
                                .rope_theta = 1e4,
                                .valid = graph.input("valid", {batch.rows, length}, Dtype::i32),
                                .dropout = nn::dropout_inputs(graph, batch.rows, positions, dropout)};
  const Tensor y = nn::attention(x, positions, attention, "attn");
  const Tensor weights = graph.input("weights", y.shape(), Dtype::f32);
  graph.output("loss", reduce_sum(mul(y, weights), {.dims = {0, 1, 2}}));
  graph.output("y", y);
  return graph;
}

// The entry `step` of a declaration.
Program compiled(const Graph &graph, std::vector<std::string> outputs, const std::string &cpu, bool fused) {
  mlir::OwningOpRef<mlir::ModuleOp> module = emptyModule(cpu);
  if (!importGraph(*module, graph, ParameterLayout(graph),
                   {.name = "step", .outputs = std::move(outputs), .differentiate = true}))
    throw std::runtime_error("the model cannot be imported");
  StageOptions options;
  if (!fused)
    options.without = {"burin-fuse-attention", "burin-fuse-linear-loss"};
  else
    options.with = {"burin-fuse-linear-loss{always=true}"};
  return Program(std::move(module), options);
}

int count(const Program &program, llvm::StringRef op) {
  int found = 0;
  program.joint("step").walk([&](mlir::Operation *each) { found += each->getName().getStringRef() == op; });
  return found;
}

size_t indexOf(const std::vector<Slot> &slots, const std::string &name, const std::string &role) {
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].name == name && slots[i].role == role)
      return i;
  throw std::runtime_error("there is no " + role + " " + name);
}

// Everything drawn, but positions that count up and all tokens valid.
std::vector<Values> drawn(mlir::func::FuncOp step) {
  std::vector<Values> arguments = drawArguments(step, {}, 5);
  const std::vector<Slot> slots = argumentsOf(step);
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].name == "valid")
      arguments[i] = Values(slots[i].shape, 1);
    else if (slots[i].name == "accumulate")
      arguments[i] = Values::scalar(0);
  return arguments;
}

// For each instruction set, fused and not, with dropout of the weights and without.
void forEachProgram(const std::function<void(const Program &)> &body) {
  for (const std::string &cpu : machineTargets())
    for (bool fused : {true, false})
      for (double dropout : {0.0, 0.3}) {
        SCOPED_TRACE(cpu + (fused ? ", fused" : ", not fused") + ", dropout " + std::to_string(dropout));
        const Program program = compiled(padded({rows, length}, dropout), {"loss", "y"}, cpu, fused);
        EXPECT_EQ(count(program, "burin.attention"), fused);
        body(program);
      }
}

// The first two queries of the first sequence see padding alone, and so do all of the last sequence.
TEST(Padding, QueriesThatSeeNothingGiveZerosAndGetNoGradient) {
  forEachProgram([](const Program &program) {
    const std::vector<Slot> slots = argumentsOf(program.joint("step")), results = resultsOf(program.joint("step"));
    std::vector<Values> arguments = drawn(program.joint("step"));
    Values &valid = arguments[indexOf(slots, "valid", "input")];
    const auto isPadding = [](int64_t token) { return token < 2 || token >= (rows - 1) * length; };
    for (int64_t token = 0; token < rows * length; ++token)
      valid[token] = !isPadding(token);
    const Results step = program.run("step", arguments);
    const Values &y = step[indexOf(results, "y", "output")], &dx = step[indexOf(results, "x", "gradient")];
    for (int64_t token = 0; token < rows * length; ++token)
      for (int64_t i = token * width; i < (token + 1) * width; ++i)
        if (isPadding(token)) {
          ASSERT_EQ(y[i], 0) << "token " << token;
          ASSERT_EQ(dx[i], 0) << "token " << token;
        } else if (token % length > 5) { // dropout leaves some of what these see
          ASSERT_NE(y[i], 0) << "token " << token;
          ASSERT_NE(dx[i], 0) << "token " << token;
        }
  });
}

// A padded token's own query sees others still; as a key it is seen by none.
TEST(Padding, KeysThatArePaddingHaveNoInfluence) {
  constexpr int64_t token = length + 7; // of the second sequence
  forEachProgram([](const Program &program) {
    const std::vector<Slot> slots = argumentsOf(program.joint("step")), results = resultsOf(program.joint("step"));
    std::vector<Values> arguments = drawn(program.joint("step"));
    arguments[indexOf(slots, "valid", "input")][token] = 0;
    const size_t y = indexOf(results, "y", "output");
    const Values before = program.run("step", arguments)[y];
    for (int64_t i = token * width; i < (token + 1) * width; ++i)
      arguments[indexOf(slots, "x", "parameter")][i] += 1;
    const Values after = program.run("step", arguments)[y];
    for (int64_t i = 0; i < before.size(); ++i)
      if (i / width != token) {
        ASSERT_EQ(before[i], after[i]) << "token " << i / width;
      }
    EXPECT_NE(before[token * width], after[token * width]) << "the changed token's own query is another";
  });
}

// The sum of no losses is 0, and so are all gradients; a training program's mean over no targets never arises, since
// its windows have none to ignore.
TEST(IgnoredTargets, HaveNeitherLossNorGradients) {
  const SmallModel model{.padded = true};
  for (const std::string &cpu : machineTargets())
    for (bool fused : {true, false}) {
      SCOPED_TRACE(cpu + (fused ? ", fused" : ", not fused"));
      const Program program = compiled(model.declare({rows, length}), {"loss"}, cpu, fused);
      EXPECT_EQ(count(program, "burin.linear_cross_entropy"), fused);
      const std::vector<Slot> slots = argumentsOf(program.joint("step")), results = resultsOf(program.joint("step"));
      std::vector<Values> arguments = drawn(program.joint("step"));
      Values &targets = arguments[indexOf(slots, "targets", "input")];
      targets = Values(targets.shape, -1);
      const Results none = program.run("step", arguments);
      targets[length + 5] = 3;
      const Results one = program.run("step", arguments);
      for (size_t i = 0; i < results.size(); ++i) {
        for (double value : none[i].data)
          ASSERT_EQ(value, 0) << results[i].role << " " << results[i].name;
        EXPECT_NE(one[i].data, none[i].data) << results[i].role << " " << results[i].name;
      }
    }
}

} // namespace

} // namespace burin::test
