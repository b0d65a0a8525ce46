// Attention written from primitives, as a model would: what the fused op is tried on. Variants differ in the work on
// the scores, and in what the weights are multiplied by.
#pragma once

#include "tests/ops/elementwise.h"

namespace burin::test {

using ScoreWork = std::function<Tensor(Tensor scores, std::vector<Tensor> &in)>;

inline Tensor unchanged(Tensor weights, std::vector<Tensor> &) { return weights; }

// Operands q, k, v and then those that `work` on the scores and `after` on the weights read, from in[3] on.
inline OpCase attentionCase(const std::string &name, const Shape &leading, int64_t queries, int64_t keys, int64_t depth,
                            int64_t valueDepth, std::vector<OpOperand> extras, ScoreWork work,
                            ScoreWork after = unchanged) {
  auto tensor = [&](int64_t rows, int64_t columns) {
    Shape shape = leading;
    return OpOperand{.shape = shape.append(rows).append(columns)};
  };
  OpCase test{.name = name + " " + shapeName(Shape(leading).append(queries).append(keys)) + " depth " +
                      std::to_string(depth),
              .operands = {tensor(queries, depth), tensor(keys, depth), tensor(keys, valueDepth)},
              .build = [=](std::vector<Tensor> &in) {
                return matmul(after(softmax(work(matmul(in[0], in[1], {.transpose_b = true}), in)), in), in[2]);
              }};
  for (OpOperand &extra : extras)
    test.operands.push_back(std::move(extra));
  return test;
}

// first, first + 1, ... as i32.
inline OpOperand positions(const Shape &shape, int64_t first = 0) {
  OpOperand operand{.shape = shape, .dtype = Dtype::i32};
  for (int64_t i = 0; i < shape.size(); ++i)
    operand.values.push_back(static_cast<double>(first + i));
  return operand;
}

// A number for each head that is given, not learned.
inline OpOperand given(const Shape &shape, double lower, double upper) {
  return {.shape = shape, .lower = lower, .upper = upper, .differentiated = false};
}

inline Tensor scaled(Tensor scores, std::vector<Tensor> &in) {
  return scale(scores, 1 / std::sqrt(static_cast<double>(in[0].shape().back())));
}

inline OpCase plainAttention(const Shape &leading, int64_t queries, int64_t keys, int64_t depth, int64_t valueDepth) {
  return attentionCase("plain", leading, queries, keys, depth, valueDepth, {}, scaled);
}

inline OpCase causalAttention(const Shape &leading, int64_t length, int64_t depth) {
  return attentionCase(
      "causal", leading, length, length, depth, depth, {positions({length, 1}), positions({1, length})},
      [](Tensor scores, std::vector<Tensor> &in) { return mask(scaled(scores, in), greater_equal(in[3], in[4])); });
}

// Variants that the house's own models do not use. All are element-wise work on the scores, so all must be fused.
inline std::vector<OpCase> attentionVariants(int64_t length, int64_t depth) {
  const Shape leading = {2, 3};
  const OpOperand query = positions({length, 1}), key = positions({1, length});
  auto make = [&](const std::string &name, std::vector<OpOperand> extras, ScoreWork work, ScoreWork after = unchanged) {
    return attentionCase(name, leading, length, length, depth, depth, std::move(extras), std::move(work),
                         std::move(after));
  };
  // The first sequence is padded at both ends, so that its first queries see nothing; the second is padding alone.
  OpOperand valid{.shape = {2, 1, 1, length}, .dtype = Dtype::i32, .values = std::vector<double>(size_t(2 * length))};
  for (int64_t i = length > 2 ? 1 : 0; i < std::max<int64_t>(1, length - 2); ++i)
    valid.values[static_cast<size_t>(i)] = 1;
  const OpOperand rowKeys = drawn({2, 3, length, 1}, {.lower = -1e9, .upper = 1e9, .dtype = Dtype::i32});
  std::vector<OpCase> cases = {
      // Positions in any order: some rows see nothing.
      make("unordered",
           {drawn({length, 1}, {.lower = 0, .upper = double(length), .dtype = Dtype::i32}),
            drawn({1, length}, {.lower = 0, .upper = double(length), .dtype = Dtype::i32})},
           [](Tensor s, std::vector<Tensor> &in) { return mask(scaled(s, in), greater_equal(in[3], in[4])); }),
      make("window", {query, key, {.shape = {}, .dtype = Dtype::i32, .values = {5}}},
           [](Tensor s, std::vector<Tensor> &in) {
             return mask(scaled(s, in), mul(greater_equal(in[3], in[4]), greater_equal(add(in[4], in[5]), in[3])));
           }),
      make("alibi", {query, key, given({3, 1, 1}, 0, 1)},
           [](Tensor s, std::vector<Tensor> &in) {
             const Tensor bias = mul(to_float(sub(in[4], in[3])), in[5]);
             return mask(add(scaled(s, in), bias), greater_equal(in[3], in[4]));
           }),
      make("softcap", {query, key},
           [](Tensor s, std::vector<Tensor> &in) {
             return mask(scale(tanh(scale(scaled(s, in), 0.5)), 2), greater_equal(in[3], in[4]));
           }),
      make("mask given", {drawn({2, 1, length, length}, {.lower = 0, .upper = 2, .dtype = Dtype::i32})},
           [](Tensor s, std::vector<Tensor> &in) { return mask(scaled(s, in), in[3]); }),
      make("bias given", {given({3, length, length}, -2, 2)},
           [](Tensor s, std::vector<Tensor> &in) { return add(scaled(s, in), in[3]); }),
      make("gated scores", {}, [](Tensor s, std::vector<Tensor> &in) { return mul(sigmoid(scaled(s, in)), s); }),
      make("padded", {query, key, valid},
           [](Tensor s, std::vector<Tensor> &in) {
             return mask(mask(scaled(s, in), in[5]), greater_equal(in[3], in[4]));
           }),
      make(
          "dropped out", {query, key, rowKeys},
          [](Tensor s, std::vector<Tensor> &in) { return mask(scaled(s, in), greater_equal(in[3], in[4])); },
          [](Tensor p, std::vector<Tensor> &in) { return mul(p, dropout_by_key(in[5], in[4], {.rate = 0.4})); }),
      make(
          "weighed by a matrix", {valid, given({3, length, length}, -1, 2)},
          [](Tensor s, std::vector<Tensor> &in) { return mask(scaled(s, in), in[3]); },
          [](Tensor p, std::vector<Tensor> &in) { return mul(in[4], p); }),
  };
  // Heads split off a wide tensor, q and k normed: operands of any strides, and work outside.
  cases.push_back({.name = "normed heads of a wide tensor, length " + std::to_string(length),
                   .operands = {{.shape = {2, length, 3 * depth}},
                                {.shape = {2, length, 3 * depth}},
                                {.shape = {2, length, 3 * depth}},
                                {.shape = {depth}},
                                query,
                                key},
                   .build = [=](std::vector<Tensor> &in) {
                     auto heads = [&](Tensor x) { return transpose(reshape(x, {2, length, 3, depth}), {0, 2, 1, 3}); };
                     const Tensor q = rms_norm(heads(in[0]), in[3]), k = past(rms_norm(heads(in[1]), in[3]));
                     const Tensor scores = mask(matmul(q, transpose(k, {0, 1, 3, 2})), greater_equal(in[4], in[5]));
                     const Tensor mixed = matmul(softmax(scores), past(heads(in[2])));
                     return reshape(transpose(mixed, {0, 2, 1, 3}), {2, length, 3 * depth});
                   }});
  return cases;
}

} // namespace burin::test
