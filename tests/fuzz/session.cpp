// Seeds and batches: see session.h.
#include "tests/fuzz/session.h"

#include <set>
#include <stdexcept>

#include "tests/fuzz/edit.h"
#include "tests/support/program.h"

namespace burin::fuzz {

using test::Random;

namespace {

uint64_t mixed(uint64_t seed, uint64_t a, uint64_t b) {
  return Random(Random(Random(seed).bits() + a).bits() + b).bits();
}

const char *reason(Truth::Verdict verdict) {
  return verdict == Truth::Verdict::notFinite ? "redrawn: out of the range of f32" : "redrawn: ill-conditioned";
}

} // namespace

std::optional<Case> drawAttempt(uint64_t seed, int64_t index, uint64_t attempt, const DrawOptions &options) {
  Random random(mixed(seed, static_cast<uint64_t>(index), attempt));
  Case test{.graph = {}, .differentiate = random.integer(0, 6) != 0, .seed = random.bits()};
  try {
    test.graph = rebuilt(drawGraph(random, options));
  } catch (const ModelError &) {
    return std::nullopt;
  }
  return test;
}

std::unique_ptr<Drawn> drawCase(uint64_t seed, int64_t index, const DrawOptions &options, Counts &counts) {
  for (uint64_t attempt = 0; attempt < mostAttempts; ++attempt) {
    std::optional<Case> test = drawAttempt(seed, index, attempt, options);
    if (!test) {
      ++counts["redrawn: breaks a rule of the DSL"];
      continue;
    }
    Truth truth(*test);
    if (truth.verdict() == Truth::Verdict::fine)
      return std::make_unique<Drawn>(Drawn{std::move(*test), std::move(truth)});
    ++counts[reason(truth.verdict())];
  }
  throw std::runtime_error("graph " + std::to_string(index) + ": too many draws in turn cannot be judged");
}

Compilation drawCompilation(uint64_t seed, int64_t index) {
  const uint64_t batch = static_cast<uint64_t>(index / batchSize);
  Random random(mixed(seed ^ 0x636f6d70696c65, batch, 0));
  Compilation compilation;
  // Each level as often; a machine that lacks one runs its own best instead.
  const std::vector<std::string> targets = test::machineTargets();
  compilation.cpu = targets[std::min<size_t>(static_cast<size_t>(random.integer(0, 3)), targets.size() - 1)];
  for (const Stage &stage : stages())
    for (const StagePass &pass : stage.passes)
      if (pass.optional && random.integer(0, 4) == 0)
        compilation.without.push_back(pass.name);
  for (const char *with : {"burin-fuse-linear-loss{always=true}", "burin-recompute{products=true}"}) {
    const std::string_view pass = std::string_view(with).substr(0, std::string_view(with).find('{'));
    if (random.integer(0, 2) == 0 &&
        std::find(compilation.without.begin(), compilation.without.end(), pass) == compilation.without.end())
      compilation.with.push_back(with);
  }
  return compilation;
}

void countGraph(const Case &test, Counts &counts) {
  const std::vector<int> read = readers(test.graph);
  for (size_t id = 0; id < test.graph.nodes.size(); ++id) {
    const Node &node = test.graph.nodes[id];
    if (node.role == Node::Role::op)
      ++counts["op " + std::string(node.mnemonic)];
    if (read[id] > 1)
      ++counts[node.role == Node::Role::op          ? "values with several readers"
               : node.role == Node::Role::parameter ? "ties"
                                                    : "inputs with several readers"];
  }
  ++counts["graphs"];
  if (!test.differentiate)
    ++counts["graphs without gradients"];
}

std::optional<Finding> checkAlone(const Case &test, const Compilation &compilation, Counts &counts) {
  const Truth truth(test);
  if (truth.verdict() != Truth::Verdict::fine)
    return std::nullopt;
  if (!truth.contradiction().empty())
    return Finding{Fault::reference, "  " + truth.contradiction() + "\n"};
  try {
    return check({&test}, {&truth}, compilation, counts).front();
  } catch (const std::exception &error) {
    return Finding{Fault::stage, "  " + std::string(error.what()) + "\n"};
  }
}

} // namespace burin::fuzz
