// A run of the fuzzer: which graphs it draws and how it compiles them, all from the seed and an index. What
// `burin-fuzz` and the test of planted bugs share.
#pragma once

#include <optional>

#include "tests/fuzz/check.h"
#include "tests/fuzz/draw.h"

namespace burin::fuzz {

// So many graphs go into one object.
constexpr int64_t batchSize = 10;

struct Drawn {
  Case test;
  Truth truth;
};

// The graph that the seed leads to at the given attempt; none where it breaks a rule of the DSL.
std::optional<Case> drawAttempt(uint64_t seed, int64_t index, uint64_t attempt, const DrawOptions &options);
constexpr uint64_t mostAttempts = 1000;

// Graph `index`: draws until one can be judged, and counts the others by the reason. Where the reference contradicts
// itself, so does the graph that is returned.
std::unique_ptr<Drawn> drawCase(uint64_t seed, int64_t index, const DrawOptions &options, Counts &counts);

// How graph `index` is compiled: the same for all of its batch.
Compilation drawCompilation(uint64_t seed, int64_t index);

// What a graph contributes to the coverage.
void countGraph(const Case &test, Counts &counts);

// The fault of one graph, compiled alone; nothing where the graph cannot be judged.
std::optional<Finding> checkAlone(const Case &test, const Compilation &compilation, Counts &counts);

} // namespace burin::fuzz
