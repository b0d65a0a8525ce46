// The op graph: what a model declaration produces and what the compiler imports. Plain values, usable in constant
// evaluation.
//
//   Graph graph;
//   Tensor x = graph.input("x", {8, 16}, Dtype::f32);
//   Tensor w = graph.parameter("w", {16}, constant(1), /*decay=*/false);
//   graph.output("loss", reduce_sum(x * w, {.dims = {0, 1}}));
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <utility>
#include <vector>

#include "cost.h"
#include "dtype.h"
#include "error.h"
#include "place.h"
#include "scope.h"
#include "shape.h"
#include "text.h"

namespace burin {

// A value of an op's attribute. The name is the struct field's name, which is also the dialect's attribute name.
struct Attribute {
  enum class Kind : uint8_t { integer, real, boolean, text, integers };
  std::string_view name;
  Kind kind = Kind::integer;
  int64_t integer = 0;        // integer, boolean
  double real = 0;            // real
  std::string_view text = {}; // text
  Shape integers = {};        // integers: a short list
};

constexpr Attribute attribute(std::string_view name, bool value) {
  return {.name = name, .kind = Attribute::Kind::boolean, .integer = value};
}
constexpr Attribute attribute(std::string_view name, double value) {
  return {.name = name, .kind = Attribute::Kind::real, .real = value};
}
constexpr Attribute attribute(std::string_view name, const Shape &value) {
  return {.name = name, .kind = Attribute::Kind::integers, .integers = value};
}

struct Initializer {
  enum class Kind : uint8_t { constant, normal, truncated_normal, uniform }; // the order of burin_init_kind
  Kind kind = Kind::constant;
  double mean = 0, std = 0, cut = 0;
};

constexpr Initializer constant(double value) { return {.kind = Initializer::Kind::constant, .mean = value}; }
constexpr Initializer normal(double std) { return {.kind = Initializer::Kind::normal, .std = std}; }
// Redrawn outside cut * std.
constexpr Initializer truncatedNormal(double std, double cut) {
  return {.kind = Initializer::Kind::truncated_normal, .std = std, .cut = cut};
}
// In [-bound, bound].
constexpr Initializer uniform(double bound) { return {.kind = Initializer::Kind::uniform, .std = bound}; }

// One value of the graph and the op that makes it. Its index in Graph::nodes is its id; operands have smaller ids.
struct Node {
  enum class Role : uint8_t { op, input, parameter };
  Role role = Role::op;
  std::string_view mnemonic; // role op: "matmul"
  std::vector<int> operands;
  std::vector<Attribute> attributes;
  Shape shape;
  Dtype dtype = Dtype::f32;
  Text name;          // input: "tokens"; parameter: "layers.0.attn.q_proj.weight"
  Text scope;         // "layers.0.attn"
  Place layer;        // the line in dsl/nn that applied the op; same as `place` for an op written in the model
  Place place;        // the line in the model
  Initializer init;   // parameter
  bool decay = false; // parameter: weight decay applies
};

struct Output {
  Text name; // "loss" (the scalar that is differentiated), "logits"
  int node = -1;
};

struct Graph;

// A value while its graph is being declared. It points to the graph, so the graph must stay where it is until then.
struct Tensor {
  Graph *graph = nullptr;
  int id = -1;

  constexpr const Node &node() const;
  // Copies: the nodes move when the graph grows.
  constexpr Shape shape() const;
  constexpr Dtype dtype() const;
};

// The first operand of an operator: a default argument cannot give `a + b` its line, this conversion can.
struct Here {
  Tensor tensor;
  Site site;
  constexpr Here(Tensor tensor, std::source_location here = std::source_location::current())
      : tensor(tensor), site(here) {}
};

// What the result of an op is made of. An op without a rule of its own takes and gives f32.
template <typename Op, typename... Dtypes> constexpr Dtype resultDtype(const Op &op, Dtypes... operands) {
  if constexpr (requires { op.dtype(operands...); })
    return op.dtype(operands...);
  check(((operands == Dtype::f32) && ...), "the operands of this op must be f32", "op", Op::mnemonic);
  return Dtype::f32;
}

struct Graph {
  std::vector<Node> nodes;
  std::vector<Output> outputs;

  constexpr Tensor input(const Text &name, const Shape &shape, Dtype dtype,
                         const Site &site = std::source_location::current()) {
    Node node = describedAt(site);
    node.role = Node::Role::input;
    node.shape = shape;
    node.dtype = dtype;
    return appendNamed(std::move(node), name, site);
  }

  // The full name is the scope's, a dot, and `name`. Ties are declared by using one Tensor twice.
  constexpr Tensor parameter(const Text &name, const Shape &shape, const Initializer &init, bool decay,
                             const Site &site = std::source_location::current()) {
    checkAt(site.place, init.std >= 0 && init.cut >= 0, "the spread of an initializer must not be negative", "std",
            init.std, "cut", init.cut);
    Node node = describedAt(site);
    node.role = Node::Role::parameter;
    node.shape = shape;
    node.init = init;
    node.decay = decay;
    return appendNamed(std::move(node), name, site);
  }

  template <typename Op, std::size_t N>
  constexpr Tensor apply(const Op &op, const Tensor (&operands)[N], const Site &site) {
    Node node = describedAt(site);
    node.mnemonic = Op::mnemonic;
    node.operands.reserve(N);
    for (const Tensor &operand : operands) {
      checkOwned(operand, site);
      node.operands.push_back(operand.id);
    }
    if constexpr (requires { op.attributes(); })
      for (const Attribute &value : op.attributes())
        node.attributes.push_back(value);
    try {
      infer(op, node, operands, std::make_index_sequence<N>());
    } catch (const ModelError &error) {
      throw error.at(site.place);
    }
    return append(std::move(node), site);
  }

  constexpr void output(const Text &name, Tensor tensor, std::source_location here = std::source_location::current()) {
    checkOwned(tensor, here);
    for (const Output &other : outputs)
      checkAt(here, other.name != name, "two outputs must not share a name", "name", name.view());
    if (name == "loss")
      checkAt(here, tensor.shape().rank() == 0 && tensor.dtype() == Dtype::f32,
              "the output named loss must be an f32 scalar", "shape", tensor.shape(), "dtype", tensor.dtype());
    outputs.push_back({name, tensor.id});
  }

  constexpr const Output *findOutput(std::string_view name) const {
    for (const Output &output : outputs)
      if (output.name == name)
        return &output;
    return nullptr;
  }

private:
  // Ids of named nodes by hash of the name, -1 where free: comparing each new name with all others would take more
  // steps than the compilers grant a constant evaluation at 48 layers.
  std::vector<int> slots;
  int named = 0;

  static constexpr Node describedAt(const Site &site) {
    Node node;
    node.scope = site.scope;
    node.layer = site.layer;
    node.place = site.place;
    return node;
  }

  constexpr void checkOwned(const Tensor &tensor, const Site &site) const {
    checkAt(site.place, tensor.graph == this && tensor.id >= 0 && tensor.id < static_cast<int>(nodes.size()),
            "the tensors of an op must belong to one graph");
  }

  template <typename Op, std::size_t N, std::size_t... I>
  constexpr void infer(const Op &op, Node &node, const Tensor (&operands)[N], std::index_sequence<I...>) const {
    node.dtype = resultDtype(op, nodes[operands[I].id].dtype...);
    node.shape = op.shape(nodes[operands[I].id].shape...);
  }

  constexpr Tensor append(Node node, const Site &site) {
    // Offsets and FLOPs are computed in 64 bits; a size such as this is a slip of the pen long before.
    constexpr int64_t most = int64_t(1) << 40;
    checkAt(site.place, node.shape.rank() <= Shape::max_rank, "a tensor has at most 6 dimensions");
    int64_t size = 1;
    for (int64_t dim : node.shape) {
      checkAt(site.place, dim >= 1, "every dimension must be at least 1", "shape", node.shape);
      checkAt(site.place, dim <= most / size, "a tensor may have at most 2^40 elements", "shape", node.shape);
      size *= dim;
    }
    nodes.push_back(std::move(node));
    return {this, static_cast<int>(nodes.size()) - 1};
  }

  constexpr Tensor appendNamed(Node node, const Text &name, const Site &site) {
    checkAt(site.place, !name.empty(), "an input or parameter must have a name");
    node.name = site.scope.dotted(name);
    const Tensor tensor = append(std::move(node), site);
    if (2 * (named + 1) > static_cast<int>(slots.size()))
      growSlots();
    int &slot = slotOf(nodes[tensor.id].name);
    checkAt(site.place, slot < 0, "two inputs or parameters must not share a name", "name",
            nodes[tensor.id].name.view());
    slot = tensor.id;
    ++named;
    return tensor;
  }

  constexpr int &slotOf(std::string_view name) {
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (char c : name)
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    // The table's size is a power of two and at least half of it is free.
    std::size_t index = (hash ^ hash >> 32) & (slots.size() - 1);
    while (slots[index] >= 0 && nodes[slots[index]].name != name)
      index = (index + 1) & (slots.size() - 1);
    return slots[index];
  }

  constexpr void growSlots() {
    const std::vector<int> old = std::move(slots);
    slots = std::vector<int>(old.empty() ? 32 : 2 * old.size(), -1);
    for (int id : old)
      if (id >= 0)
        slotOf(nodes[id].name) = id;
  }
};

// Applies an op to tensors of a graph: what the function of each header in ops/ does.
template <typename Op, std::size_t N>
constexpr Tensor apply(const Op &op, const Tensor (&operands)[N], const Site &site) {
  checkAt(site.place, operands[0].graph != nullptr, "the tensor belongs to no graph");
  return operands[0].graph->apply(op, operands, site);
}

constexpr const Node &Tensor::node() const {
  check(graph != nullptr && id >= 0, "the tensor belongs to no graph");
  return graph->nodes[id];
}
constexpr Shape Tensor::shape() const { return node().shape; }
constexpr Dtype Tensor::dtype() const { return node().dtype; }

} // namespace burin
