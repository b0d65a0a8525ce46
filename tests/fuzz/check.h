// What a graph should compute, how exactly it can be known, and whether the compiled graph computes it.
//
// The truth is double precision and owes nothing to what is tested: the loss is that of the graph as declared, before
// any pass has run; the gradients are those of the graph differentiated with every optional pass left out, and they are
// held against differences of the loss first.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "burin.h"
#include "passes/stages.h"
#include "tests/support/values.h"

namespace burin::fuzz {

// What a run has met: "op matmul", "fused attention", ... and how often.
using Counts = std::map<std::string, int64_t>;

struct Case {
  Graph graph;
  bool differentiate = true;
  uint64_t seed = 0; // of the arguments
};

// In which way a graph went wrong. A smaller graph shows the same fault only where this is the same.
enum class Fault {
  none,
  reference, // the reference itself contradicts itself: loss or gradients before and after differentiation
  stage,     // the compiler gives up
  crash,     // the compiler or the compiled program dies or does not end
  numbers,   // the compiled program computes something else
  cut,       // its results depend on how the cells are shared out
};
std::string describe(Fault fault);

struct Finding {
  Fault fault = Fault::none;
  std::string text;
};

class Truth {
public:
  // Why a graph cannot be judged; another one is drawn then.
  enum class Verdict { fine, notFinite, illConditioned };

  // Throws std::runtime_error where the reference fails.
  explicit Truth(const Case &test);
  ~Truth();
  Truth(Truth &&) noexcept;

  Verdict verdict() const;
  // Empty, or how the derived gradients disagree with differences of the loss.
  const std::string &contradiction() const;
  // Whether differences could say anything: the loss may have a kink just here.
  bool conclusive() const;

  // What `results` of the compiled entry have to do with the truth: empty where all are within tolerance.
  std::string judge(const std::vector<test::Values> &results) const;
  const std::vector<test::Values> &arguments() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

struct Compilation {
  std::string cpu = "x86-64";
  std::vector<std::string> without = {}, with = {}; // as in StageOptions
  // Called after each stage, where a test may break what the stage has made.
  std::function<void(const Stage &, mlir::ModuleOp)> plant = {};
};
std::string describe(const Compilation &compilation);

// Compiles all cases into one object and runs each. Throws std::runtime_error where the compiler gives up.
std::vector<Finding> check(const std::vector<const Case *> &cases, const std::vector<const Truth *> &truths,
                           const Compilation &compilation, Counts &counts);

} // namespace burin::fuzz
