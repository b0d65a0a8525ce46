// The constants of a declaration: what can be said of a model before anything is compiled. What only the compiler's
// plan knows (the arena's peak, scratch) stands in the generated header instead.
//
//   static_assert(burin::parameters(declare(Gpt{}, {16, 128})) == 3'344'640);
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph.h"

namespace burin {

// Elements of all parameters, ties counted once.
constexpr int64_t parameters(const Graph &graph) {
  int64_t count = 0;
  for (const Node &node : graph.nodes)
    if (node.role == Node::Role::parameter)
      count += node.shape.size();
  return count;
}

// Those of one module: `layers.0.attn` has `layers.0.attn.q_proj.weight`.
constexpr int64_t parameters_in(const Graph &graph, std::string_view module) {
  int64_t count = 0;
  for (const Node &node : graph.nodes) {
    const std::string_view name = node.name;
    if (node.role == Node::Role::parameter && name.starts_with(module) &&
        (name.size() == module.size() || name[module.size()] == '.'))
      count += node.shape.size();
  }
  return count;
}

constexpr int64_t parameter_bytes(const Graph &graph) { return 4 * parameters(graph); }
constexpr int64_t gradient_bytes(const Graph &graph) { return 4 * parameters(graph); }
// AdamW's two moments.
constexpr int64_t state_bytes(const Graph &graph) { return 2 * 4 * parameters(graph); }

// Bytes of all results of ops, as if none were fused or freed. Other views of the same elements are not results.
constexpr int64_t activations(const Graph &graph) {
  int64_t total = 0;
  for (const Node &node : graph.nodes)
    if (node.role == Node::Role::op && node.mnemonic != "reshape" && node.mnemonic != "past")
      total += node.shape.size() * bytes(node.dtype);
  return total;
}

namespace detail {

constexpr bool isView(const Node &node) {
  return node.mnemonic == "reshape" || node.mnemonic == "transpose" || node.mnemonic == "past";
}

// The integer input whose elements the node names, or -1.
constexpr int positionsOf(const Graph &graph, int id) {
  while (isView(graph.nodes[id]))
    id = graph.nodes[id].operands[0];
  const Node &node = graph.nodes[id];
  // The same ones again and again: heads that share their keys.
  if (node.mnemonic == "concat") {
    const int first = positionsOf(graph, node.operands[0]);
    return first == positionsOf(graph, node.operands[1]) ? first : -1;
  }
  return node.role == Node::Role::input && node.dtype == Dtype::i32 ? id : -1;
}

// The number of keys for each product of which a causal mask leaves only the lower triangle, 0 for others: a batched
// product whose result reaches a softmax through a mask made from positions, or that reads what such a softmax gives.
// On the way may lie any work that keeps the shape of the scores.
constexpr std::vector<int64_t> causalProducts(const Graph &graph) {
  const int count = static_cast<int>(graph.nodes.size());
  const std::vector<char> none(count, 0); // spelt out: libstdc++ 12 cannot do without in clang's constant evaluation
  std::vector<char> toSoftmax = none, toMask = none, masked = none;
  std::vector<int64_t> causal(count, int64_t{0});
  const auto keepsShape = [&](const Node &node, int operand) {
    return node.mnemonic != "matmul" && graph.nodes[operand].shape == node.shape;
  };
  for (int id = count - 1; id >= 0; --id) {
    const Node &node = graph.nodes[id];
    if (node.mnemonic == "mask" && toSoftmax[id]) {
      const Node &keep = graph.nodes[node.operands[1]];
      const int positions = keep.mnemonic == "greater_equal" ? positionsOf(graph, keep.operands[0]) : -1;
      masked[id] = positions >= 0 && positions == positionsOf(graph, keep.operands[1]);
    }
    for (int operand : node.operands) {
      if (!keepsShape(node, operand))
        continue;
      if (node.mnemonic == "softmax" || toSoftmax[id])
        toSoftmax[operand] = 1;
      if (masked[id] || toMask[id])
        toMask[operand] = 1;
    }
  }
  for (int id = 0; id < count; ++id) {
    const Node &node = graph.nodes[id];
    for (int operand : node.operands)
      if (masked[operand] && keepsShape(node, operand))
        masked[id] = 1;
    if (node.mnemonic != "matmul" || graph.nodes[node.operands[1]].shape.rank() <= 2)
      continue;
    if (toMask[id])
      causal[id] = node.shape.back();
    for (int operand : node.operands)
      if (masked[operand])
        causal[id] = graph.nodes[operand].shape.back();
  }
  return causal;
}

constexpr int64_t flops(const Graph &graph, const std::vector<int64_t> &causal) {
  int64_t total = 0;
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node &node = graph.nodes[id];
    if (node.mnemonic != "matmul")
      continue;
    // 2MNK: every element of a (and of the batch) meets each of the N columns of the result.
    const int64_t product = 2 * graph.nodes[node.operands[0]].shape.size() * node.shape.back();
    if (!causal[id]) {
      total += product;
      continue;
    }
    // A triangle with its diagonal: T (T + 1) / 2 of T * T, once for each head that shares them.
    const int64_t keys = causal[id];
    total += product / (2 * keys) * (keys + 1);
  }
  return 3 * total;
}

} // namespace detail

// FLOPs of one step that count towards a share of a machine's peak: 2MNK of each product and of its two gradients, the
// causal half only; no recomputation, no element-wise work.
constexpr int64_t flops(const Graph &graph) { return detail::flops(graph, detail::causalProducts(graph)); }
// The same with attention counted in full, as is usual elsewhere.
constexpr int64_t flops_full_attention(const Graph &graph) {
  return detail::flops(graph, std::vector<int64_t>(graph.nodes.size(), int64_t{0}));
}

// What the products of a forward pass are for, found by what they read and what reads them, not by their names.
struct FlopsByKind {
  int64_t projections = 0;  // into and out of attention
  int64_t feed_forward = 0; // everything that is nothing else
  int64_t attention = 0;    // scores, and probabilities times values
  int64_t head = 0;         // what no other product follows on the way to the loss
  constexpr int64_t total() const { return projections + feed_forward + attention + head; }
};

// 2MNK of each product, attention counted in full: the usual way of telling where a forward pass goes. A training step
// is three times that.
constexpr FlopsByKind forward_flops(const Graph &graph) {
  const int count = static_cast<int>(graph.nodes.size());
  const auto isProduct = [&](int id) { return graph.nodes[id].mnemonic == "matmul"; };
  const auto isBatched = [&](int id) {
    return isProduct(id) && graph.nodes[graph.nodes[id].operands[1]].shape.rank() > 2;
  };
  // Whether a value reaches the loss, or a batched product, or comes from one, without another product between.
  const std::vector<char> none(count, 0);
  std::vector<char> reachesLoss = none, reachesBatched = none, comesFromBatched = none;
  if (const Output *loss = graph.findOutput("loss"))
    reachesLoss[loss->node] = 1;
  for (int id = count - 1; id >= 0; --id)
    for (int operand : graph.nodes[id].operands) {
      if (isBatched(id) || (!isProduct(id) && reachesBatched[id]))
        reachesBatched[operand] = 1;
      if (!isProduct(id) && reachesLoss[id])
        reachesLoss[operand] = 1;
    }
  FlopsByKind flops;
  for (int id = 0; id < count; ++id) {
    const Node &node = graph.nodes[id];
    bool fromBatched = false;
    for (int operand : node.operands)
      fromBatched |= comesFromBatched[operand] != 0;
    comesFromBatched[id] = isBatched(id) || (!isProduct(id) && fromBatched);
    if (!isProduct(id))
      continue;
    int64_t &kind = isBatched(id)                       ? flops.attention
                    : reachesLoss[id]                   ? flops.head
                    : reachesBatched[id] || fromBatched ? flops.projections
                                                        : flops.feed_forward;
    kind += 2 * graph.nodes[node.operands[0]].shape.size() * node.shape.back();
  }
  return flops;
}

} // namespace burin
