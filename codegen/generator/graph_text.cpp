#include "graph_text.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace burin {

static std::string relativePlace(const Place &place, const std::string &sourceRoot) {
  std::string_view file = place.file;
  std::string root = sourceRoot.empty() ? "" : sourceRoot + "/";
  if (!root.empty() && file.substr(0, root.size()) == root)
    file.remove_prefix(root.size());
  return std::string(file) + ":" + std::to_string(place.line);
}

static std::string shortest(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

static std::string attributesText(const Node &node) {
  std::string text;
  for (const Attribute &attribute : node.attributes) {
    text += text.empty() ? " {" : ", ";
    text += std::string(attribute.name) + " = ";
    switch (attribute.kind) {
    case Attribute::Kind::integer:
      text += std::to_string(attribute.integer);
      break;
    case Attribute::Kind::real:
      text += shortest(attribute.real);
      break;
    case Attribute::Kind::boolean:
      text += attribute.integer ? "true" : "false";
      break;
    case Attribute::Kind::text:
      text += std::string(attribute.text);
      break;
    case Attribute::Kind::integers:
      text += describe(attribute.integers);
      break;
    }
  }
  return text.empty() ? text : text + "}";
}

std::string graphText(const Graph &graph, const std::string &model, Batch batch, const std::string &sourceRoot) {
  std::string text =
      llvm::formatv("# {0}: batch {1}, length {2}; {3} parameters; {4} FLOPs of matrix products a step\n", model,
                    batch.rows, batch.length, parameters(graph), flops(graph));
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node &node = graph.nodes[id];
    std::string what;
    if (node.role == Node::Role::op) {
      what = std::string(node.mnemonic) + "(";
      for (size_t i = 0; i < node.operands.size(); ++i)
        what += (i ? ", %" : "%") + std::to_string(node.operands[i]);
      what += ")" + attributesText(node);
    } else {
      what = (node.role == Node::Role::input ? "input " : "parameter ") + std::string(node.name.view());
      if (node.role == Node::Role::parameter && node.decay)
        what += ", decayed";
    }
    std::string place = relativePlace(node.place, sourceRoot);
    text += llvm::formatv("%{0} = {1} : {2}{3}  # {4}{5}{6}\n", id, what, describe(node.dtype), describe(node.shape),
                          node.scope.view(), node.scope.empty() ? "" : ", ", place);
  }
  for (const Output &output : graph.outputs)
    text += llvm::formatv("output {0} = %{1}\n", output.name.view(), output.node);
  return text;
}

} // namespace burin
