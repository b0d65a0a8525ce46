// Random graphs, declared with the DSL as models are: every op, layers of dsl/nn, attention with many kinds of work on
// the scores, ties, values with several readers, chains of views, broadcasts in every direction, reductions over any
// dimensions.
#pragma once

#include "burin.h"
#include "tests/support/values.h"

namespace burin::fuzz {

struct DrawOptions {
  // Extents around the widths of vectors and blocks and far from them, up to 129; otherwise small ones.
  bool odd_sizes = false;
};

// The graph that `random` leads to; it has a scalar output "loss" and perhaps others. May throw ModelError: some draws
// break a rule of the DSL, and it is the DSL that says so.
Graph drawGraph(test::Random &random, const DrawOptions &options);

// Values for an input or parameter. The name says what is drawn ("keep2": zeros and ones; "positions0": a run of
// integers), so that a graph which has been edited still gets sensible ones; `lower` and `upper` bound integers that
// index something.
test::Values drawArgument(test::Random &random, std::string_view name, const std::vector<int64_t> &shape, bool integers,
                          int64_t lower, int64_t upper);

} // namespace burin::fuzz
