// Builds, compiles and compares the cases of op_test.h, all cases of an op in one object.
#include "tests/support/op_test.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/import/import.h"
#include "passes/passes.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"
#include "tests/support/program.h"
#include "gtest/gtest.h"

namespace burin::test {

namespace {

// The op's inputs are parameters where they are differentiated. The loss weighs each element of the result by another
// random number.
Graph graphOf(const OpCase &test) {
  Graph graph;
  std::vector<Tensor> in;
  for (const OpOperand &operand : test.operands) {
    std::string name = "x" + std::to_string(in.size());
    if (operand.dtype == Dtype::f32 && operand.differentiated && test.differentiable)
      in.push_back(graph.parameter(name.c_str(), operand.shape, constant(0), false));
    else
      in.push_back(graph.input(name.c_str(), operand.shape, operand.dtype));
  }
  Tensor y = test.build(in);
  graph.output("y", y);
  if (test.differentiable) {
    Tensor weighted = mul(y, graph.input("weights", y.shape(), Dtype::f32));
    Shape all;
    for (int i = 0; i < y.shape().rank(); ++i)
      all.append(i);
    graph.output("loss", all.rank() == 0 ? weighted : reduce_sum(weighted, {.dims = all}));
  }
  return graph;
}

Values draw(const Slot &slot, const OpCase &test, Random &random) {
  if (slot.name.starts_with("x") && slot.role != "gradient") {
    const OpOperand &operand = test.operands.at(std::stoul(slot.name.substr(1)));
    if (!operand.values.empty())
      return Values(slot.shape, operand.values);
    if (operand.dtype == Dtype::i32)
      return randomIntegers(random, slot.shape, static_cast<int64_t>(operand.lower),
                            static_cast<int64_t>(operand.upper));
    return randomReals(random, slot.shape, operand.lower, operand.upper);
  }
  if (slot.name == "loss_scale")
    return Values::scalar(0.5);
  if (slot.name == "accumulate")
    return Values::scalar(1);
  return randomReals(random, slot.shape, -1, 1); // weights, former gradients
}

std::vector<Values> drawAll(mlir::func::FuncOp function, const OpCase &test) {
  Random random(20240229);
  std::vector<Values> arguments;
  for (const Slot &slot : argumentsOf(function))
    arguments.push_back(draw(slot, test, random));
  return arguments;
}

void addText(mlir::ModuleOp module, const OpCase &test, const std::string &name) {
  mlir::OwningOpRef<mlir::ModuleOp> parsed = mlir::parseSourceString<mlir::ModuleOp>(test.text, module.getContext());
  mlir::func::FuncOp function = parsed ? parsed->lookupSymbol<mlir::func::FuncOp>("op") : nullptr;
  if (!function)
    throw std::runtime_error("the text of case " + test.name + " is no function @op");
  mlir::Builder b(module.getContext());
  function.setName(name);
  function->setAttr("burin.entry", b.getUnitAttr());
  for (const char *size : {"burin.batch", "burin.length"})
    function->setAttr(size, b.getI64IntegerAttr(0));
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    function.setArgAttr(i, "burin.role", b.getStringAttr("input"));
    function.setArgAttr(i, "burin.name", b.getStringAttr("x" + std::to_string(i)));
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    function.setResultAttr(i, "burin.role", b.getStringAttr("output"));
    function.setResultAttr(i, "burin.name", b.getStringAttr("y" + std::to_string(i)));
  }
  function->moveBefore(module.getBody(), module.getBody()->end());
  parsed.release()->erase();
}

bool isDifferentiated(const OpCase &test) { return test.text.empty() && test.differentiable; }

// Entry run_i of case i gives the op's result and, where it is differentiated, the loss and the gradients; with
// `losses`, loss_i gives the loss alone.
mlir::OwningOpRef<mlir::ModuleOp> moduleOf(const std::vector<OpCase> &cases, const std::string &cpu, bool losses) {
  mlir::OwningOpRef<mlir::ModuleOp> module = emptyModule(cpu);
  for (size_t i = 0; i < cases.size(); ++i) {
    const OpCase &test = cases[i];
    const std::string suffix = "_" + std::to_string(i);
    if (!test.text.empty()) {
      addText(*module, test, "run" + suffix);
      continue;
    }
    Graph graph = graphOf(test);
    ParameterLayout layout(graph);
    std::vector<EntryOptions> entries = {{.name = "run" + suffix, .differentiate = isDifferentiated(test)}};
    if (losses && isDifferentiated(test))
      entries.push_back({.name = "loss" + suffix, .outputs = {"loss"}});
    for (const EntryOptions &options : entries)
      if (!importGraph(*module, graph, layout, options))
        throw std::runtime_error("case " + test.name + " cannot be imported");
  }
  return module;
}

// Bit-equal, also where both are NaN.
bool sameBits(const Results &a, const Results &b) {
  for (size_t i = 0; i < a.size(); ++i)
    for (int64_t e = 0; e < a[i].size(); ++e)
      if (a[i][e] != b[i][e] && (a[i][e] == a[i][e] || b[i][e] == b[i][e]))
        return false;
  return true;
}

void expectCaseMatches(const Program &program, const std::string &name, const OpCase &test) {
  mlir::func::FuncOp joint = program.joint(name);
  const std::vector<Values> arguments = drawAll(joint, test);
  const Results expected = evaluate(joint, arguments), actual = program.run(name, arguments);
  const std::vector<Slot> slots = resultsOf(joint);
  for (size_t i = 0; i < expected.size(); ++i) {
    // The loss is a sum that may cancel to almost nothing; what it sums is held against the reference already.
    if (slots[i].name == "loss")
      continue;
    const bool gradient = slots[i].role == "gradient";
    expectClose(actual[i], expected[i], gradient ? test.gradientTolerance : test.tolerance,
                test.name + ", " + (gradient ? "gradient of " : "") + slots[i].name);
  }
  EXPECT_TRUE(sameBits(actual, program.run(name, arguments, Cut::single)))
      << test.name << ": results depend on how the cells are cut";
}

} // namespace

static std::vector<const OpTest *> &opTests() {
  static std::vector<const OpTest *> tests;
  return tests;
}

OpTest::OpTest(std::string mnemonic, Reference reference, std::function<std::vector<OpCase>()> cases)
    : mnemonic(std::move(mnemonic)), cases(std::move(cases)) {
  defineReference(this->mnemonic, std::move(reference));
  opTests().push_back(this);
}

const std::vector<const OpTest *> &OpTest::all() { return opTests(); }

void expectCompiledMatchesReference(const std::vector<OpCase> &cases, const std::string &cpu) {
  Program program(moduleOf(cases, cpu, /*losses=*/false));
  for (size_t i = 0; i < cases.size(); ++i)
    expectCaseMatches(program, "run_" + std::to_string(i), cases[i]);
}

void expectAdjointMatchesFiniteDifferences(const std::vector<OpCase> &cases) {
  mlir::OwningOpRef<mlir::ModuleOp> module = moduleOf(cases, "x86-64", /*losses=*/true);
  mlir::PassManager passes(&context());
  passes.addNestedPass<mlir::func::FuncOp>(createDifferentiate());
  passes.addNestedPass<mlir::func::FuncOp>(createRecompute());
  ASSERT_TRUE(succeeded(passes.run(*module)));
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!isDifferentiated(cases[i]))
      continue;
    SCOPED_TRACE(cases[i].name);
    mlir::func::FuncOp forward = entry(*module, "loss_" + std::to_string(i));
    expectGradients(forward, entry(*module, "run_" + std::to_string(i)), drawAll(forward, cases[i]), /*directions=*/5,
                    /*tolerance=*/1e-6, /*seed=*/i + 1);
  }
}

} // namespace burin::test
