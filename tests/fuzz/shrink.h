// Makes a failing graph as small as it stays failing.
#pragma once

#include <functional>

#include "burin.h"

namespace burin::fuzz {

// Tries smaller graphs, at most `tries`, and keeps each on which `fails` still holds: outputs dropped, ops replaced by
// one of their operands or by a fresh parameter, sizes shrunk.
Graph shrunk(Graph graph, const std::function<bool(const Graph &)> &fails, int tries);

} // namespace burin::fuzz
