// A run of the fuzzer: which graphs it draws and how it compiles them, all from the seed and an index. What `burin-fuzz` and the test of
// planted bugs share.
#pragma once

#include "tests/fuzz/check.h"
#include "tests/fuzz/draw.h"

namespace burin::fuzz {

// So many graphs go into one object.
constexpr int64_t batchSize = 10;

struct Drawn {
  Case test;
  Truth truth;
};

// Graph `index`: draws until one can be judged, and counts the others by the reason. Where the reference contradicts itself, so does the
// graph that is returned.
std::unique_ptr<Drawn> drawCase(uint64_t seed, int64_t index, const DrawOptions &options, Counts &counts);

// How graph `index` is compiled: the same for all of its batch.
Compilation drawCompilation(uint64_t seed, int64_t index);

// What a graph contributes to the coverage.
void countGraph(const Case &test, Counts &counts);

// The fault of one graph, compiled alone. A graph that cannot be judged has none.
Finding checkAlone(const Case &test, const Compilation &compilation, Counts &counts);

} // namespace burin::fuzz
