// The table from mnemonics back to the DSL's ops, and what is made of it: see edit.h.
#include "tests/fuzz/edit.h"

#include <map>
#include <sstream>
#include <stdexcept>

namespace burin::fuzz {

namespace {

const Attribute &attributeOf(const Node &node, std::string_view name) {
  for (const Attribute &attribute : node.attributes)
    if (attribute.name == name)
      return attribute;
  throw std::logic_error("no attribute " + std::string(name) + " on " + std::string(node.mnemonic));
}

// An op's fields from the attributes that it wrote.
template <typename Op> Op restored(const Node &) { return {}; }
template <> DropoutMask restored(const Node &node) {
  return {attributeOf(node, "width").integer, attributeOf(node, "rate").real, attributeOf(node, "id").integer};
}
template <> DropoutKeys restored(const Node &node) {
  return {attributeOf(node, "width").integer, attributeOf(node, "id").integer};
}
template <> DropoutByKey restored(const Node &node) { return {attributeOf(node, "rate").real}; }
template <> Gelu restored(const Node &node) { return {attributeOf(node, "approximate").integer != 0}; }
template <> Matmul restored(const Node &node) {
  return {attributeOf(node, "transpose_a").integer != 0, attributeOf(node, "transpose_b").integer != 0};
}
template <> ReduceMax restored(const Node &node) {
  return {attributeOf(node, "dims").integers, attributeOf(node, "keep_dims").integer != 0};
}
template <> ReduceSum restored(const Node &node) {
  return {attributeOf(node, "dims").integers, attributeOf(node, "keep_dims").integer != 0};
}
template <> Reshape restored(const Node &node) { return {attributeOf(node, "shape").integers}; }
template <> RmsNorm restored(const Node &node) { return {attributeOf(node, "eps").real}; }
template <> Rope restored(const Node &node) {
  return {attributeOf(node, "theta").real, attributeOf(node, "half_split").integer != 0};
}
template <> Sinusoid restored(const Node &node) {
  return {attributeOf(node, "width").integer, attributeOf(node, "theta").real};
}
template <> Slice restored(const Node &node) {
  return {attributeOf(node, "start").integer, attributeOf(node, "size").integer};
}
template <> Scale restored(const Node &node) { return {attributeOf(node, "factor").real}; }
template <> Transpose restored(const Node &node) { return {attributeOf(node, "permutation").integers}; }

using Apply = Tensor (*)(const Node &, const std::vector<Tensor> &, const Site &);

template <typename Op, int operands> std::pair<const std::string_view, Apply> entry() {
  return {Op::mnemonic, [](const Node &node, const std::vector<Tensor> &in, const Site &site) {
            Tensor list[operands];
            for (int i = 0; i < operands; ++i)
              list[i] = in.at(static_cast<size_t>(i));
            return apply(restored<Op>(node), list, site);
          }};
}

// Every op of dsl/ops.
const std::map<std::string_view, Apply> &table() {
  static const std::map<std::string_view, Apply> ops = {
      entry<Add, 2>(),          entry<Concat, 2>(),      entry<CrossEntropy, 2>(), entry<Div, 2>(),
      entry<DropoutByKey, 2>(), entry<DropoutKeys, 3>(), entry<DropoutMask, 3>(),  entry<Embedding, 2>(),
      entry<Exp, 1>(),          entry<Gelu, 1>(),        entry<GreaterEqual, 2>(), entry<IsFinite, 1>(),
      entry<Log, 1>(),          entry<Mask, 2>(),        entry<Matmul, 2>(),       entry<Maximum, 2>(),
      entry<Minimum, 2>(),      entry<Mul, 2>(),         entry<Past, 1>(),         entry<ReduceMax, 1>(),
      entry<ReduceSum, 1>(),    entry<Relu, 1>(),        entry<Reshape, 1>(),      entry<RmsNorm, 2>(),
      entry<Rope, 2>(),         entry<Scale, 1>(),       entry<Sigmoid, 1>(),      entry<Silu, 1>(),
      entry<Sinusoid, 1>(),     entry<Slice, 1>(),       entry<Softmax, 1>(),      entry<Sqrt, 1>(),
      entry<Sub, 2>(),          entry<Tanh, 1>(),        entry<ToFloat, 1>(),      entry<Transpose, 1>(),
      entry<Where, 3>()};
  return ops;
}

Shape resized(Shape shape, const Resize &resize) {
  for (int i = 0; resize && i < shape.rank(); ++i)
    shape[i] = resize(shape[i]);
  return shape;
}

// A reshape's target follows what it reshapes: the dimension that can make up for a changed size does.
Shape fitted(Shape to, int64_t size) {
  for (int i = 0; to.size() != size && i < to.rank(); ++i) {
    const int64_t others = to.size() / to[i];
    if (size % others == 0)
      to[i] = size / others;
  }
  return to;
}

std::string braced(const Shape &shape) {
  std::string list = "{";
  for (int64_t dim : shape)
    list += (list.size() > 1 ? ", " : "") + std::to_string(dim);
  return list + "}";
}

std::string number(double value) {
  std::ostringstream text;
  text.precision(17);
  text << value;
  return text.str();
}

// ", {.keep_dims = true}": only what differs from the op's default.
std::string attributesText(const Node &node) {
  if (node.mnemonic == "reshape" || node.mnemonic == "transpose")
    return ", " + braced(node.attributes.front().integers);
  if (node.mnemonic == "scale")
    return ", " + number(node.attributes.front().real);
  std::string list;
  for (const Attribute &attribute : node.attributes) {
    std::string value;
    if (attribute.kind == Attribute::Kind::boolean && attribute.integer)
      value = "true";
    else if (attribute.kind == Attribute::Kind::integer)
      value = std::to_string(attribute.integer);
    else if (attribute.kind == Attribute::Kind::real)
      value = number(attribute.real);
    else if (attribute.kind == Attribute::Kind::integers)
      value = braced(attribute.integers);
    if (!value.empty())
      list += (list.empty() ? "." : ", .") + std::string(attribute.name) + " = " + value;
  }
  return list.empty() ? "" : ", {" + list + "}";
}

std::string nameOf(const Graph &graph, int id) {
  const Node &node = graph.nodes[static_cast<size_t>(id)];
  std::string name = node.role == Node::Role::op ? "v" + std::to_string(id) : std::string(node.name.view());
  for (char &c : name)
    c = c == '.' ? '_' : c;
  return name;
}

std::vector<bool> needed(const Graph &graph, const std::vector<std::string> &dropped) {
  std::vector<bool> needed(graph.nodes.size());
  for (const Output &output : graph.outputs)
    if (std::find(dropped.begin(), dropped.end(), output.name.view()) == dropped.end())
      needed[static_cast<size_t>(output.node)] = true;
  for (size_t id = graph.nodes.size(); id-- > 0;)
    if (needed[id])
      for (int operand : graph.nodes[id].operands)
        needed[static_cast<size_t>(operand)] = true;
  return needed;
}

Graph copied(const Graph &graph, const Edit &edit) {
  Graph to;
  std::vector<Tensor> made(graph.nodes.size());
  const std::vector<bool> wanted = needed(graph, edit.dropped);
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node &node = graph.nodes[id];
    if (!wanted[id])
      continue;
    if (edit.substitute)
      made[id] = edit.substitute(to, static_cast<int>(id), made);
    if (made[id].graph)
      continue;
    Site site = std::source_location::current();
    site.place = site.layer = Place("graph", static_cast<uint32_t>(to.nodes.size() + 1), 1);
    const Shape shape = resized(node.shape, edit.resize);
    if (node.role == Node::Role::input) {
      made[id] = to.input(node.name, shape, node.dtype, site);
    } else if (node.role == Node::Role::parameter) {
      made[id] = to.parameter(node.name, shape, node.init, node.decay, site);
    } else {
      std::vector<Tensor> operands;
      for (int operand : node.operands)
        operands.push_back(made[static_cast<size_t>(operand)]);
      Node changed = node;
      if (node.mnemonic == "reshape" && edit.resize)
        changed.attributes.front().integers =
            fitted(resized(node.attributes.front().integers, edit.resize), operands[0].shape().size());
      made[id] = table().at(node.mnemonic)(changed, operands, site);
    }
  }
  for (const Output &output : graph.outputs)
    if (made[static_cast<size_t>(output.node)].graph &&
        std::find(edit.dropped.begin(), edit.dropped.end(), output.name.view()) == edit.dropped.end())
      to.output(output.name, made[static_cast<size_t>(output.node)]);
  return to;
}

} // namespace

Graph rebuilt(const Graph &graph, const Edit &edit) {
  // A second time without changes, for what a substitution left unread.
  return copied(copied(graph, edit), {});
}

std::string text(const Graph &graph) {
  std::string lines;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node &node = graph.nodes[id];
    const std::string name = nameOf(graph, static_cast<int>(id));
    std::string line = "Tensor " + name + " = ";
    if (node.role == Node::Role::op) {
      line += std::string(node.mnemonic) + "(";
      for (size_t i = 0; i < node.operands.size(); ++i)
        line += (i ? ", " : "") + nameOf(graph, node.operands[i]);
      line += attributesText(node) + ");  // " + describe(node.shape) + (node.dtype == Dtype::i32 ? " i32" : "");
    } else if (node.role == Node::Role::input) {
      line += "graph.input(\"" + std::string(node.name.view()) + "\", " + braced(node.shape) +
              ", Dtype::" + describe(node.dtype) + ");";
    } else {
      line += "graph.parameter(\"" + std::string(node.name.view()) + "\", " + braced(node.shape) + ", constant(0), " +
              (node.decay ? "true" : "false") + ");";
    }
    lines += "  " + line + "\n";
  }
  for (const Output &output : graph.outputs)
    lines += "  graph.output(\"" + std::string(output.name.view()) + "\", " + nameOf(graph, output.node) + ");\n";
  return lines;
}

std::vector<std::string_view> mnemonics() {
  std::vector<std::string_view> names;
  for (const auto &[name, apply] : table())
    names.push_back(name);
  return names;
}

std::vector<int> readers(const Graph &graph) {
  std::vector<int> count(graph.nodes.size());
  for (const Node &node : graph.nodes)
    for (int operand : node.operands)
      ++count[static_cast<size_t>(operand)];
  return count;
}

} // namespace burin::fuzz
