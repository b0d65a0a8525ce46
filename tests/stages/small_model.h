// A language model of a few thousand parameters, in the variants that stages are tried on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "burin.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/import/import.h"
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
  bool classic = false; // learned positions, LayerNorm, biases, fused projections, dropout

  Graph declare(Batch batch) const;
};

// baseline, no positions, no norm, post-norm, GELU, tied, grouped, classic.
std::vector<SmallModel> smallModels();

// The module with all entries, as stage `imported` has it.
mlir::OwningOpRef<mlir::ModuleOp> imported(const SmallModel &model, Batch batch, const std::string &cpu);

// Ids, positions, targets (one of them ignored) and weights for an entry.
std::vector<Values> drawArguments(mlir::func::FuncOp entry, const SmallModel &model, uint64_t seed);

} // namespace burin::test
