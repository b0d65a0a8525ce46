// What the tests of the words share: the error of a piece of a declaration, as text.
#pragma once

#include <burin.h>

#include <string>

namespace burin::test {

// The message of the ModelError that `run` throws, without its place; "" if it throws none.
template <typename Run> std::string messageOf(const Run &run) {
  try {
    run();
  } catch (const ModelError &error) {
    return error.message();
  }
  return "";
}

constexpr const Node &nodeNamed(const Graph &graph, std::string_view name) {
  for (const Node &node : graph.nodes)
    if (node.name == name)
      return node;
  detail::modelError(Place{}, "the graph has no such name", "name", name);
}

} // namespace burin::test
