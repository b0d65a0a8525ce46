// What a file in tests/ops says about its op: the reference in double precision, and the cases in which the compiled op
// is held against it. tests/ops/main.cpp turns both into tests: compiled results against the reference on each
// instruction set that the machine has, derived gradients against finite differences, compiled gradients against
// derived ones.
//
//   static Results reference(const Call &call) { return {elementwise(call.in(0), [](double x) { return std::max(x,
//   0.0); })}; } static std::vector<OpCase> cases() {
//     return {{.name = "7x33", .operands = {{.shape = {7, 33}}}, .build = [](auto &in) { return relu(in[0]); }}};
//   }
//   static const OpTest test("relu", reference, cases);
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "burin.h"
#include "tests/support/evaluator.h"

namespace burin::test {

// The extents that every op is tried at: around the widths of vectors and blocks, and far from them.
inline constexpr int64_t oddSizes[] = {1, 2, 3, 5, 7, 13, 17, 31, 33, 65, 129};

struct OpOperand {
  Shape shape;
  Dtype dtype = Dtype::f32;
  double lower = -2, upper = 2;    // draws lie in [lower, upper)
  bool differentiated = true;      // f32 only
  std::vector<double> values = {}; // given instead of drawn
};

struct OpCase {
  std::string name;
  std::vector<OpOperand> operands;
  std::function<Tensor(std::vector<Tensor> &)> build;
  // For ops that only passes make: the text of a function `@op` of the operands, instead of `build`. Forward only.
  std::string text = {};
  bool differentiable = true;
  double tolerance = 2e-6;         // of results
  double gradientTolerance = 5e-6; // of compiled gradients
};

// Each suite names itself here while the program starts.
class OpTest {
public:
  OpTest(std::string mnemonic, Reference reference, std::function<std::vector<OpCase>()> cases);

  const std::string mnemonic;
  const std::function<std::vector<OpCase>()> cases;

  static const std::vector<const OpTest *> &all();
};

// googletest failures, each headed by the case's name.
void expectCompiledMatchesReference(const std::vector<OpCase> &cases, const std::string &cpu);
void expectAdjointMatchesFiniteDifferences(const std::vector<OpCase> &cases);

} // namespace burin::test
