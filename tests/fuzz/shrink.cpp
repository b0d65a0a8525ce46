// The steps of shrink.h, from those that take most to those that take least.
#include "tests/fuzz/shrink.h"

#include <set>

#include "tests/fuzz/edit.h"

namespace burin::fuzz {

namespace {

class Shrinking {
public:
  Shrinking(Graph graph, const std::function<bool(const Graph &)> &fails, int tries)
      : graph(std::move(graph)), fails(fails), left(tries) {}

  Graph run() {
    dropOutputs();
    for (bool smaller = true; smaller && left > 0;)
      smaller = cutOps() | shrinkSizes();
    return std::move(graph);
  }

private:
  // Keeps the edited graph where it is a graph at all and still fails.
  bool attempt(const Edit &edit) {
    if (left <= 0)
      return false;
    try {
      Graph smaller = rebuilt(graph, edit);
      if (!smaller.findOutput("loss") || text(smaller) == text(graph))
        return false;
      --left;
      if (!fails(smaller))
        return false;
      graph = std::move(smaller);
      return true;
    } catch (const ModelError &) {
      return false;
    }
  }

  void dropOutputs() {
    for (const Output &output : std::vector<Output>(graph.outputs))
      if (output.name != "loss")
        attempt({.dropped = {std::string(output.name.view())}});
  }

  // Each op, from the last: an operand in its place, or a fresh leaf.
  bool cutOps() {
    bool any = false;
    for (int id = static_cast<int>(graph.nodes.size()) - 1; id >= 0;
         id = std::min(id, static_cast<int>(graph.nodes.size())) - 1)
      any |= cutOp(id);
    return any;
  }

  bool cutOp(int id) {
    const Node node = graph.nodes[static_cast<size_t>(id)];
    if (node.role != Node::Role::op)
      return false;
    for (int operand : node.operands) {
      const Node &other = graph.nodes[static_cast<size_t>(operand)];
      if (other.shape == node.shape && other.dtype == node.dtype &&
          attempt({.substitute = [=](Graph &, int at, const std::vector<Tensor> &made) {
            return at == id ? made[static_cast<size_t>(operand)] : Tensor{};
          }}))
        return true;
    }
    // A scalar that is itself the sum of scalars may lose one of them, but must not become a leaf: nothing would be
    // left.
    if (id == graph.findOutput("loss")->node)
      return false;
    const Text name = Text(node.dtype == Dtype::f32 ? "cut" : "keep").append(std::to_string(cuts++));
    return attempt({.substitute = [=](Graph &to, int at, const std::vector<Tensor> &) {
      if (at != id)
        return Tensor{};
      return node.dtype == Dtype::f32 ? to.parameter(name, node.shape, constant(0), false)
                                      : to.input(name, node.shape, node.dtype);
    }});
  }

  bool shrinkSizes() {
    std::set<int64_t, std::greater<>> sizes;
    for (const Node &node : graph.nodes)
      sizes.insert(node.shape.begin(), node.shape.end());
    bool any = false;
    for (int64_t size : sizes) {
      std::set<int64_t> candidates;
      for (int64_t smaller : {int64_t(1), int64_t(2), int64_t(3), size / 4, size / 2, size - 1})
        if (0 < smaller && smaller < size)
          candidates.insert(smaller);
      for (int64_t smaller : candidates)
        if (attempt({.resize = [=](int64_t each) { return each == size ? smaller : each; }})) {
          any = true;
          break;
        }
    }
    return any;
  }

  Graph graph;
  const std::function<bool(const Graph &)> &fails;
  int left, cuts = 0;
};

} // namespace

Graph shrunk(Graph graph, const std::function<bool(const Graph &)> &fails, int tries) {
  return Shrinking(std::move(graph), fails, tries).run();
}

} // namespace burin::fuzz
