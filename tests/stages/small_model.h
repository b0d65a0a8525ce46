// A language model of a few thousand parameters, in the variants that stages are tried on.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "burin.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/import/import.h"
#include "tests/support/program.h"
#include "tests/support/values.h"

namespace burin::test {

struct SmallModel {
  std::string name = "baseline";
  int64_t vocab = 11, width = 12, layers = 2, heads = 2, hidden = 20;
  std::optional<double> rope_theta = 1e4;
  nn::Norm norm = nn::Norm::pre;
  nn::FeedForward feed_forward = nn::FeedForward::swiglu;
  bool tied = false;    // the output layer reads the embedding's table
  bool grouped = false; // two heads to a key, norms of queries and keys, rotated halves, capped scores
  bool padded = false;  // an input tells padding
  bool classic = false; // learned positions, LayerNorm, biases, fused projections, dropout
  double attention_dropout = 0;

  Graph declare(Batch batch) const;
};

// How googletest names a parameter.
inline void PrintTo(const SmallModel &model, std::ostream *stream) { *stream << model.name; }

// baseline, no positions, no norm, post-norm, GELU, tied, grouped, padded, grouped with dropout of the weights, classic
// with the same.
std::vector<SmallModel> smallModels();

// The module with all entries, as stage `imported` has it.
mlir::OwningOpRef<mlir::ModuleOp> imported(const SmallModel &model, Batch batch, const std::string &cpu);

// Ids, positions, targets and weights for an entry. Ignored are the first target and those of padding, which the first
// sequence has at both ends; the last of several sequences is padding alone.
std::vector<Values> drawArguments(mlir::func::FuncOp entry, const SmallModel &model, uint64_t seed);

// Runs the entries loss, logits and step, their cells also one by one, and holds the results against the evaluator's.
void expectTheEvaluatorsResults(const Program &program, const SmallModel &model);

} // namespace burin::test
