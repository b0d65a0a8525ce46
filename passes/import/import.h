// From a declared graph to the stage `imported`: functions of the dialect, the parameter table and where everything
// lies in the model's buffers. Generic over ops: what an op is, its dsl header and its .td say.
//
//   burin::ModelDeclaration model{.name = "cs336", .declare = burin::registry()[0].declare, .batch = {16, 128}, .target
//   = target}; mlir::OwningOpRef<mlir::ModuleOp> module = burin::importModel(context, model);
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "burin.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/ir/burin.h"

namespace burin {

struct ModelDeclaration {
  std::string name;
  std::function<Graph(Batch)> declare;
  Batch batch;
  TargetAttr target;
  std::string revision = {};   // of the source, for the object
  std::string sourceRoot = {}; // places below it are written relative to it
};

// The module with the entries step, loss, one for each other output of the graph (under its name; for one row), update
// and prepare.
// Null with a diagnostic for a model that cannot be one: no loss, ids that nothing can check. Throws ModelError as
// `declare` does.
mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext &context, const ModelDeclaration &model);

// ---- the parts, for tests and for entries of other kinds

// Where the parameters of a graph lie: those with weight decay first, then the others; each starts at a multiple of 64
// bytes, each of the two sections is padded to whole rows of `rowElements`, so that `update` sees it as one matrix.
struct ParameterLayout {
  static constexpr int64_t rowElements = 1024;

  struct Section {
    int64_t offset = 0, rows = 0; // bytes; rows of rowElements
    bool decay = false;
  };
  std::map<std::string, int64_t, std::less<>> offsets; // bytes, by name
  std::vector<std::string> order;                      // names by offset
  std::vector<Section> sections;                       // those that are not empty
  int64_t bytes = 0;

  explicit ParameterLayout(const Graph &graph);
};

// A tensor that lives in a buffer of the model although the graph calls it an input or output: what `update` reads and
// writes.
struct Resident {
  std::string role; // "parameter", "gradient", "state"
  int64_t offset = 0;
};

struct EntryOptions {
  std::string name;                      // of the function
  std::vector<std::string> outputs = {}; // of the graph, in this order; empty: all
  bool differentiate = false;            // burin-differentiate is to append the backward graph of the output "loss"
  int64_t batch = 0, length = 0;
  std::string sourceRoot = {};
  std::map<std::string, Resident, std::less<>> residents = {};
};

// Appends an entry that computes the outputs. Its arguments are the graph's inputs, then its parameters, in the order
// of their declaration; those that only other outputs read are left out, except that a differentiated entry has every
// parameter. Null with a diagnostic where the entry cannot be built.
mlir::func::FuncOp importGraph(mlir::ModuleOp module, const Graph &graph, const ParameterLayout &layout,
                               const EntryOptions &options);

// Writes burin.parameters, burin.parameter_bytes and burin.moments.
void importParameters(mlir::ModuleOp module, const Graph &graph, const ParameterLayout &layout,
                      llvm::StringRef sourceRoot);

} // namespace burin
