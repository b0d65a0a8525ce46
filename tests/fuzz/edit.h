// Rebuilding and printing declared graphs: what shrinking needs of them. Shapes are inferred again by the DSL's own
// rules, so whatever comes out is a graph that a model could have declared.
#pragma once

#include <functional>
#include <string>

#include "burin.h"

namespace burin::fuzz {

// What stands for node `id` in the new graph, instead of a copy of it; a tensor of no graph: the copy.
using Substitute = std::function<Tensor(Graph &to, int id, const std::vector<Tensor> &made)>;
// The size that stands for a size.
using Resize = std::function<int64_t(int64_t)>;

struct Edit {
  Substitute substitute = {};
  Resize resize = {};
  std::vector<std::string> dropped = {}; // outputs
};

// A copy without what no output needs; every node is placed at its line in text(). Throws ModelError where the edited
// graph breaks a rule of the DSL.
Graph rebuilt(const Graph &graph, const Edit &edit = {});

// The declaration, one line a node, as C++ would have it.
std::string text(const Graph &graph);

// Every op of dsl/ops, by its mnemonic.
std::vector<std::string_view> mnemonics();

// How many operands read each node.
std::vector<int> readers(const Graph &graph);

} // namespace burin::fuzz
