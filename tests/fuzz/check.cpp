// The reference, its tolerance and the comparison of check.h.
#include "tests/fuzz/check.h"

#include <cmath>

#include "passes/import/import.h"
#include "passes/ops/mul.h"
#include "tests/fuzz/draw.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"
#include "tests/support/program.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace burin::fuzz {

using namespace burin::test;

namespace {

// Every op's result is off by up to this share in the runs that measure how much rounding matters: several times the
// rounding of f32.
constexpr double noise = 0x1p-20;
constexpr int noisyRuns = 6, moreNoisyRuns = 40;
// What is left of the error of f32 where nothing amplifies it.
constexpr double leastTolerance = 2e-6;
// Above this a graph says too little about its compilation.
constexpr double mostTolerance = 1e-3;

uint64_t hashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

mlir::func::FuncOp import(mlir::ModuleOp module, const Case &test, const std::string &name, bool differentiate) {
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    errors += diagnostic.str() + "\n";
    return mlir::success();
  });
  mlir::func::FuncOp function =
      importGraph(module, test.graph, ParameterLayout(test.graph), {.name = name, .differentiate = differentiate});
  if (!function)
    throw std::runtime_error("the graph cannot be imported: " + errors);
  return function;
}

std::vector<std::string> optionalPasses() {
  std::vector<std::string> names;
  for (const Stage &stage : stages())
    for (const StagePass &pass : stage.passes)
      if (pass.optional)
        names.push_back(pass.name);
  return names;
}

// Arguments do not depend on each other's draws, so that a graph keeps them while others vanish from it.
std::vector<Values> drawArguments(mlir::func::FuncOp function, uint64_t seed) {
  std::vector<Values> arguments;
  for (auto [i, slot] : llvm::enumerate(argumentsOf(function))) {
    Random random(seed ^ hashOf(slot.role + slot.name));
    random.bits();
    auto bounds = function.getArgAttrOfType<mlir::DenseI64ArrayAttr>(static_cast<unsigned>(i), "burin.bounds");
    if (slot.name == "loss_scale")
      arguments.push_back(Values::scalar(random.integer(0, 2) ? 1 : 0.5));
    else if (slot.name == "accumulate")
      arguments.push_back(Values::scalar(static_cast<double>(random.integer(0, 2))));
    else
      arguments.push_back(
          drawArgument(random, slot.name, slot.shape, slot.integers, bounds ? bounds[0] : -2, bounds ? bounds[1] : 3));
  }
  return arguments;
}

// Ops that hand numbers on as they are have no rounding.
bool isExact(mlir::Operation *op) {
  return llvm::StringSwitch<bool>(op->getName().stripDialect())
      .Cases({"reduce_max", "maximum", "minimum", "relu", "where", "mask", "to_float"}, true)
      .Cases({"reshape", "transpose", "slice", "concat", "past", "embedding", "constant", "copy"}, true)
      .Default(false);
}

// A copy of a function that also returns every f32 value, each multiplied by a tensor given as a further argument.
mlir::OwningOpRef<mlir::func::FuncOp> withNoise(mlir::func::FuncOp function) {
  mlir::OwningOpRef<mlir::func::FuncOp> copy(function.clone());
  mlir::Block &body = copy->getBody().front();
  mlir::OpBuilder b(copy->getContext());
  llvm::SmallVector<mlir::Value> returned(body.getTerminator()->getOperands());
  llvm::SmallVector<mlir::Operation *> ops;
  for (mlir::Operation &op : body.without_terminator())
    ops.push_back(&op);
  llvm::SmallVector<mlir::Value> all;
  for (mlir::Operation *op : ops)
    for (mlir::Value result : op->getResults()) {
      if (!mlir::getElementTypeOrSelf(result).isF32())
        continue;
      if (isExact(op)) {
        all.push_back(result);
        continue;
      }
      mlir::Value factor = body.addArgument(result.getType(), op->getLoc());
      b.setInsertionPointAfter(op);
      auto product = MulOp::create(b, op->getLoc(), result, factor);
      result.replaceAllUsesExcept(product, product);
      all.push_back(product);
    }
  mlir::Operation *terminator = body.getTerminator();
  terminator->insertOperands(terminator->getNumOperands(), all);
  return copy;
}

std::map<std::string, Values> byName(mlir::func::FuncOp function, const std::vector<Values> &arguments) {
  std::map<std::string, Values> named;
  for (auto [slot, value] : llvm::zip(argumentsOf(function), arguments))
    named[slot.role + " " + slot.name] = value;
  return named;
}

} // namespace

std::string describe(Fault fault) {
  switch (fault) {
  case Fault::none:
    return "nothing";
  case Fault::reference:
    return "the reference contradicts itself";
  case Fault::stage:
    return "the compiler gives up";
  case Fault::crash:
    return "the compiler or its program dies";
  case Fault::numbers:
    return "wrong numbers";
  case Fault::cut:
    return "results depend on how the cells are shared out";
  }
  return {};
}

std::string describe(const Compilation &compilation) {
  std::string text = "for " + compilation.cpu;
  if (!compilation.without.empty())
    text += ", without " + llvm::join(compilation.without, " ");
  if (!compilation.with.empty())
    text += ", with " + llvm::join(compilation.with, " ");
  return text;
}

struct Truth::State {
  const Case test;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp forward, joint;
  mlir::OwningOpRef<mlir::func::FuncOp> noisy;
  std::vector<Values> arguments;
  Results expected;
  std::vector<Slot> slots; // of the results
  std::vector<double> deviations;
  Verdict verdict = Verdict::fine;
  std::string contradiction;
  bool conclusive = true;

  explicit State(const Case &test) : test(test), module(emptyModule("x86-64")) {
    forward = import(*module, test, "forward", false);
    mlir::OwningOpRef<mlir::func::FuncOp> declared(forward.clone());
    import(*module, test, "step", test.differentiate);
    StageOptions plain;
    plain.stopAfter = "joint";
    plain.without = optionalPasses();
    lower(*module, plain);
    joint = entry(*module, "step");
    arguments = drawArguments(joint, test.seed);
    slots = resultsOf(joint);
    noisy = withNoise(joint);

    const Results all = run(0, 1);
    expected.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(slots.size()));
    if (!inRange(all)) {
      verdict = Verdict::notFinite;
      return;
    }
    deviations.assign(slots.size(), 0);
    measure(1, noisyRuns);
    for (size_t i = 0; i < slots.size(); ++i)
      if (tolerance(i) > mostTolerance) {
        verdict = Verdict::illConditioned;
        return;
      }
    compareWith(*declared);
  }

  // With noise of the given size, and every intermediate value behind the results.
  Results run(double size, uint64_t seed) const {
    std::vector<Values> all = arguments;
    Random random(test.seed + seed);
    for (mlir::BlockArgument factor :
         mlir::func::FuncOp(*noisy).getBody().front().getArguments().drop_front(arguments.size())) {
      Values values(mlir::cast<mlir::RankedTensorType>(factor.getType()).getShape().vec(), 1);
      for (double &value : values.data)
        value = size == 0 ? 1 : 1 + size * random.uniform(-1, 1);
      all.push_back(std::move(values));
    }
    return evaluate(*noisy, all);
  }

  // Whether f32 can follow: no NaN, nothing near its largest or smallest numbers, finite results. A mask's -inf is fine
  // on the way.
  bool inRange(const Results &all) const {
    for (size_t i = 0; i < all.size(); ++i)
      for (double x : all[i].data) {
        const double size = std::abs(x);
        if (std::isnan(x) || (i < slots.size() && std::isinf(x)) || (std::isfinite(x) && size > 1e25) ||
            (x != 0 && size < 1e-30))
          return false;
      }
    return true;
  }

  void measure(int first, int runs) {
    for (int i = first; i < first + runs; ++i) {
      const Results moved = run(noise, static_cast<uint64_t>(i));
      for (size_t r = 0; r < slots.size(); ++r)
        deviations[r] = std::max(deviations[r], difference(moved[r], expected[r], 0).error);
    }
  }

  double tolerance(size_t result) const { return leastTolerance + 4 * deviations[result]; }

  // First that no pass has changed the outputs, then that the gradients are the loss's.
  void compareWith(mlir::func::FuncOp declared) {
    std::map<std::string, Values> named = byName(joint, arguments);
    const std::vector<Slot> inputs = argumentsOf(declared);
    auto evaluated = [&] {
      std::vector<Values> list;
      for (const Slot &slot : inputs)
        list.push_back(named.at(slot.role + " " + slot.name));
      return evaluate(declared, list);
    };
    const Results outputs = evaluated();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Difference seen = difference(expected[i], outputs[i], 1e-9);
      if (seen.error > 1e-9 + 1e-6 * deviations[i]) {
        contradiction = "output " + slots[i].name + " differs from that of the graph as declared: " + seen.text;
        return;
      }
    }
    if (!test.differentiate)
      return;
    const size_t loss = static_cast<size_t>(
        llvm::find_if(slots, [](const Slot &slot) { return slot.name == "loss" && slot.role == "output"; }) -
        slots.begin());
    const double scale = named.at("input loss_scale")[0], accumulate = named.at("input accumulate")[0];
    std::map<std::string, Values> direction;
    Random random(test.seed ^ hashOf("direction"));
    double derived = 0, squares = 0;
    for (size_t r = 0; r < slots.size(); ++r) {
      if (slots[r].role != "gradient")
        continue;
      const Values &former = named.at("gradient " + slots[r].name);
      Values &d = direction["parameter " + slots[r].name] = Values(slots[r].shape);
      for (int64_t e = 0; e < d.size(); ++e) {
        d[e] = random.normal();
        const double gradient = (expected[r][e] - (accumulate != 0 ? former[e] : 0)) / scale;
        derived += gradient * d[e];
        squares += gradient * gradient;
      }
    }
    const std::map<std::string, Values> at = named;
    auto measured = [&](double h) {
      auto lossAt = [&](double step) {
        named = at;
        for (const auto &[name, d] : direction)
          for (int64_t e = 0; e < d.size(); ++e)
            named.at(name)[e] += step * d[e];
        return evaluated()[loss][0];
      };
      return (lossAt(h) - lossAt(-h)) / (2 * h);
    };
    auto agree = [&](double x, double y) {
      return std::abs(x - y) <= 1e-5 * (std::sqrt(squares) + std::abs(y)) + 1e-7 * (1 + std::abs(expected[loss][0]));
    };
    std::vector<double> rises;
    for (double h : {1e-5, 1e-6, 1e-7}) {
      rises.push_back(measured(h));
      if (agree(derived, rises.back()))
        return;
    }
    // Differences that do not even agree with each other straddle a kink.
    conclusive = agree(rises[0], rises[1]) && agree(rises[1], rises[2]);
    if (conclusive)
      contradiction = "the derived gradients rise by " + std::to_string(derived) +
                      " in a random direction, the loss by " + std::to_string(rises[1]);
  }

  std::string judge(const std::vector<Values> &results) {
    std::string text;
    bool thorough = false;
    for (size_t i = 0; i < slots.size(); ++i) {
      Difference seen = difference(results[i], expected[i], tolerance(i));
      if (seen.error > tolerance(i) && !thorough) {
        // More runs before anything is claimed.
        thorough = true;
        measure(1 + noisyRuns, moreNoisyRuns);
        seen = difference(results[i], expected[i], tolerance(i));
      }
      if (seen.error > tolerance(i))
        text += "  " + (slots[i].role == "gradient" ? "gradient of " + slots[i].name : slots[i].name) + ": " +
                seen.text + "\n";
    }
    return text;
  }
};

Truth::Truth(const Case &test) : state(std::make_unique<State>(test)) {}
Truth::~Truth() = default;
Truth::Truth(Truth &&) noexcept = default;
Truth::Verdict Truth::verdict() const { return state->verdict; }
const std::string &Truth::contradiction() const { return state->contradiction; }
bool Truth::conclusive() const { return state->conclusive; }
std::string Truth::judge(const std::vector<Values> &results) const { return state->judge(results); }
const std::vector<Values> &Truth::arguments() const { return state->arguments; }

namespace {

// What the fusions and the recomputation have done, by what they leave behind.
void countFused(mlir::ModuleOp module, llvm::StringRef stage, Counts &counts) {
  module.walk([&](mlir::Operation *op) {
    const llvm::StringRef name = op->getName().stripDialect();
    if (stage == "fused" && (name == "attention" || name == "swiglu" || name == "linear_cross_entropy"))
      ++counts["fused " + name.str()];
    if (stage == "joint" && op->hasAttr("burin.recompute"))
      ++counts["fused recompute"];
  });
}

bool sameBits(const Results &a, const Results &b) {
  for (size_t i = 0; i < a.size(); ++i)
    for (int64_t e = 0; e < a[i].size(); ++e)
      if (a[i][e] != b[i][e] && (a[i][e] == a[i][e] || b[i][e] == b[i][e]))
        return false;
  return true;
}

} // namespace

std::vector<Finding> check(const std::vector<const Case *> &cases, const std::vector<const Truth *> &truths,
                           const Compilation &compilation, Counts &counts) {
  mlir::OwningOpRef<mlir::ModuleOp> module = emptyModule(compilation.cpu);
  for (size_t i = 0; i < cases.size(); ++i)
    import(*module, *cases[i], "graph" + std::to_string(i), cases[i]->differentiate);
  StageOptions options;
  options.without = compilation.without;
  options.with = compilation.with;
  options.onStage = [&](const Stage &stage, mlir::ModuleOp reached) {
    countFused(reached, stage.name, counts);
    if (compilation.plant)
      compilation.plant(stage, reached);
  };
  const Program program(std::move(module), options);
  std::vector<Finding> findings(cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::string name = "graph" + std::to_string(i);
    try {
      const Results results = program.run(name, truths[i]->arguments());
      if (std::string wrong = truths[i]->judge(results); !wrong.empty())
        findings[i] = {Fault::numbers, wrong};
      else if (!sameBits(results, program.run(name, truths[i]->arguments(), Cut::single)))
        findings[i] = {Fault::cut, "  one cell at a time, from the last to the first, gives other bits\n"};
    } catch (const std::exception &error) { // writes outside its buffers
      findings[i] = {Fault::numbers, "  " + std::string(error.what()) + "\n"};
    }
  }
  return findings;
}

} // namespace burin::fuzz
